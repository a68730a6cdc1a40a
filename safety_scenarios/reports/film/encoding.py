# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes to a file: a picture, a strip, or a film as MP4 or GIF; the same bytes each time."""

from collections.abc import Iterable, Sequence
import io
from pathlib import Path

from safety_scenarios.errors import in_words, MissingDependencyError, TraceError
from safety_scenarios.reports.film.files import Format
from safety_scenarios.reports.scene.scene import Scene

try:
    import imageio_ffmpeg
    from matplotlib import rc_context
    from PIL import Image
    from safety_scenarios.reports.film import style as words
    from safety_scenarios.reports.film.pages import (
        DPI,
        draw_page,
        draw_strip,
        Pixels,
        Sheet,
        Stage,
        times,
    )
except ImportError as error:
    if (error.name or '').partition('.')[0] == 'safety_scenarios':
        raise
    raise MissingDependencyError('a film', error.name or 'matplotlib',
                                 "pip install 'safety_scenarios[film]', or pip install "
                                 'matplotlib imageio-ffmpeg') from None

_GIF_WIDTH = 800
_COLOURS = 200
"""Of a GIF: few, so that it stays small; the pictures have no shades."""
_QUALITY = ('-crf', '20', '-preset', 'medium', '-pix_fmt', 'yuv420p', '-threads', '1',
            '-fflags', '+bitexact', '-flags:v', '+bitexact', '-map_metadata', '-1',
            '-movflags', '+faststart')
"""Of the coder; one thread and no dates, so that the same frames give the same bytes."""


def write(scenes: Sequence[Scene], how: Format, path: Path, *, fps: float | None = None,
          speed: float = 1.0) -> None:
    """
    Draw one trial, or two side by side, into a file.

    :param fps: frames a second of a film; None: 20, of a GIF 10
    :param speed: of a film: 1 as it happened, 0.5 half as fast
    :raises TraceError: it cannot be written
    """
    try:
        with rc_context(dict(words.STYLE)):
            if how in ('png', 'strip'):
                _save(draw_page(scenes) if how == 'png' else draw_strip(scenes), path)
            elif how == 'gif':
                _gif(Stage(scenes), times(scenes, fps or 10.0, speed), path, fps or 10.0)
            else:
                stage = Stage(scenes)
                encode_mp4(map(stage.show, times(scenes, fps or 20.0, speed)), stage.size, path,
                           fps or 20.0)
    except OSError as error:
        raise TraceError(f'{path}: cannot be written: {in_words(error)}') from None


def _save(sheet: Sheet, path: Path) -> None:
    data = io.BytesIO()
    sheet.figure.savefig(data, format='png', dpi=DPI, metadata={'Software': None})
    path.write_bytes(data.getvalue())


def encode_mp4(pictures: Iterable[Pixels], size: tuple[int, int], path: Path, fps: float) -> None:
    """
    Write pictures (RGB, 8 bits) as H.264.

    :param size: width and height, both even
    :raises OSError: it cannot be written
    """
    coder = imageio_ffmpeg.write_frames(
        str(path), size, fps=fps, codec='libx264', macro_block_size=2, quality=None,
        output_params=list(_QUALITY), ffmpeg_log_level='error')
    coder.send(None)
    try:
        for pixels in pictures:
            coder.send(pixels.tobytes())
    finally:
        coder.close()


def _gif(stage: Stage, moments: Sequence[float], path: Path, fps: float) -> None:
    width, height = stage.size
    small = min(width, _GIF_WIDTH), round(height * min(width, _GIF_WIDTH) / width)
    palette = _image(stage.show(moments[len(moments) // 2]), small).quantize(
        _COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    first, *others = (_image(stage.show(t_s), small).quantize(
        palette=palette, dither=Image.Dither.NONE) for t_s in moments)
    first.save(path, format='GIF', save_all=True, append_images=others, loop=0, optimize=False,
               duration=round(1000 / fps / 10) * 10)


def _image(pixels: Pixels, size: tuple[int, int]) -> Image.Image:
    return Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS)
