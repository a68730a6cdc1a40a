# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
Drawings of a trial's scene as files: films, strips and pictures, with matplotlib.

``axes`` draws what is seen from above and the axes below it, ``pages`` whole pictures, strips and
the frames of a film; ``encoding`` writes each into a file, and ``files`` says what that is called.
To draw something else of a scene, add it to one of them.
"""
