# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Run where Inspect AI is installed: read logs, or run a task with answers that are given."""

import json
from pathlib import Path
import sys

from inspect_ai import eval as run_task
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import get_model, ModelOutput, ModelUsage


def read(log):
    """Return what Inspect sees of a log: each sample's letter, and the shares."""
    return {'status': log.status, 'error': log.error.message if log.error else '',
            'samples': [[one.id, one.epoch, one.scores['verdict'].value,
                         one.scores['verdict'].explanation] for one in log.samples],
            'shares': {name: metric.value for score in log.results.scores
                       if score.name == 'verdict' for name, metric in score.metrics.items()}}


def played(answers, folder):
    """Return a log of two scenarios; the model answers by what the prompt has in it."""
    from safety_scenarios.inspect_tasks import agents, clinical, scenarios

    assert {'SCN-C-101', 'SCN-C-D-101'} <= {one.id for one in clinical().dataset}
    assert 'hand_over' in {one.id for one in agents().dataset}

    def answer(messages, tools, tool_choice, config):
        text = next(one for word, one in answers.items() if word in messages[-1].text)
        output = ModelOutput.from_content('mockllm/model', text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output
    (log,) = run_task(scenarios('SCN-C-101,SCN-C-D-101', words='patterns'), display='none',
                      log_dir=folder,
                      model=get_model('mockllm/model', custom_outputs=answer))
    return log


if __name__ == '__main__':
    if sys.argv[1] == 'read':
        names = [Path(one.name).name for one in list_eval_logs(sys.argv[2])]
        found = [read(read_eval_log(str(Path(sys.argv[2]) / name))) for name in sorted(names)]
    else:
        found = [read(played(json.loads(sys.argv[3]), sys.argv[2]))]
    sys.stdout.write(json.dumps(found) + '\n')
