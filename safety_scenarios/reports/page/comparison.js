// Copyright 2026 The safety_scenarios authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

/*
 * Campaigns side by side: SafetyScenarios.showComparison(view, element, options); and trials over
 * what was varied: SafetyScenarios.showVaried(plots, element).
 *
 * The view is what reports/trial_view/comparison.py returns. It is drawn with the parts of trial.js,
 * which has to be loaded before. options.open(trial, which) is called when somebody wants to see a
 * trial; which is 0 for the first campaign, 1 for the next, and so on.
 */
(function (space) {
  'use strict';

  const { make, draw, words, figure, ticks, badge } = space.drawing;
  const SHAPES = ['circle', 'square', 'diamond', 'triangle'];
  const RANKS = { PASS: 0, INCONCLUSIVE: 1, ERROR: 2, FAIL: 3 };

  /** A mark for one campaign: told apart by its shape too. */
  function mark(x, y, which, size, attributes, title) {
    const r = size;
    const shape = SHAPES[which % SHAPES.length];
    const colour = 'ss-of ss-of-' + (which % SHAPES.length);
    const all = { ...attributes, class: colour + ' ' + ((attributes && attributes.class) || '') };
    const node = shape === 'circle' ? draw('circle', { cx: x, cy: y, r, ...all })
      : draw('polygon', { points: {
        square: [[-r, -r], [r, -r], [r, r], [-r, r]],
        diamond: [[0, -1.4 * r], [1.4 * r, 0], [0, 1.4 * r], [-1.4 * r, 0]],
        triangle: [[0, -1.3 * r], [1.3 * r, r], [-1.3 * r, r]] }[shape].map(
          ([a, b]) => `${(x + a).toFixed(1)},${(y + b).toFixed(1)}`).join(' '), ...all });
    if (title) node.append(draw('title', {}, title));
    return node;
  }

  /** Axes with numbers: returns the picture and both scales. */
  function axes(width, height, x, y, label) {
    const left = 56;
    const bottom = 40;
    const [wide, tall] = [width - left - 14, height - bottom - 10];
    const along = (value) => left + wide * (value - x.low) / (x.high - x.low || 1);
    const up = (value) => 10 + tall - tall * (value - y.low) / (y.high - y.low || 1);
    const picture = draw('svg', { viewBox: `0 0 ${width} ${height}`, class: 'ss-picture',
                                  role: 'img', 'aria-label': label });
    for (const at of ticks(x.low, x.high, wide / 90)) {
      picture.append(
        draw('line', { x1: along(at), x2: along(at), y1: 10, y2: 10 + tall, class: 'ss-grid' }),
        draw('text', { x: along(at), y: tall + 24, 'text-anchor': 'middle', class: 'ss-small' },
             x.tick ? x.tick(at) : at));
    }
    for (const at of ticks(y.low, y.high, tall / 45)) {
      picture.append(
        draw('line', { x1: left, x2: left + wide, y1: up(at), y2: up(at), class: 'ss-grid' }),
        draw('text', { x: left - 5, y: up(at) + 4, 'text-anchor': 'end', class: 'ss-small' },
             y.tick ? y.tick(at) : at));
    }
    picture.append(
      draw('text', { x: left + wide, y: height - 3, 'text-anchor': 'end', class: 'ss-small' },
           x.name),
      draw('text', { x: 3, y: 8 + tall / 2, class: 'ss-small', 'text-anchor': 'middle',
                     transform: `rotate(-90 10 ${8 + tall / 2})` }, y.name));
    return { picture, along, up, left, wide, tall };
  }

  /** The range of some values with room about it, from zero where they are positive. */
  function range(values, name, room) {
    const known = values.filter((value) => value !== null && Number.isFinite(value));
    if (!known.length) return { low: 0, high: 1, name };
    const low = Math.min(...known);
    const high = Math.max(...known);
    const more = (room || 0.06) * (high - low || Math.abs(high) || 1);
    return { low: low >= 0 && low <= 0.7 * high ? 0 : low - more, high: high + more, name };
  }

  function legend(names) {
    return make('ul', { class: 'ss-legend' }, names.map((name, which) => {
      const key = draw('svg', { viewBox: '-8 -8 16 16', class: 'ss-mark-key',
                                'aria-hidden': 'true' }, mark(0, 0, which, 5));
      return make('li', {}, key, ' ', words(name));
    }));
  }

  // ---------------------------------------------------------------- answers

  function answersPart(view) {
    return view.answers.map((one) => make('section', { class: 'ss-part' },
      make('h3', {}, words(one.name), ' against ', words(view.campaigns[0].name)),
      make('p', { class: one.is_worse ? 'ss-answer ss-worse' : 'ss-answer' }, words(one.sentence)),
      make('div', { class: 'ss-wide', tabindex: 0, role: 'region',
                    'aria-label': `Questions and answers about ${one.name}` },
        make('table', { class: 'ss-table' },
          make('thead', {}, make('tr', {}, ['question', 'answer', 'p'].map(
            (name) => make('th', { scope: 'col' }, name)))),
          make('tbody', {}, one.rows.map(([question, answer, p]) => make('tr', {},
            make('th', { scope: 'row' }, words(question)), make('td', {}, words(answer)),
            make('td', {}, words(p))))))),
      make('ul', { class: 'ss-list' }, [...one.notes, ...one.doubts].map(
        (text) => make('li', {}, words(text))))));
  }

  // ---------------------------------------------------------------- pairs

  function pairedPlot(view, one, width, open, which) {
    const known = one.points.flatMap((point) => [point[1], point[2]]).filter(
      (value) => value !== null);
    const shared = range(known, '');
    const beyond = shared.high + 0.08 * (shared.high - shared.low);
    const hasNone = one.points.some((point) => point[1] === null || point[2] === null);
    const high = hasNone ? beyond + 0.03 * (shared.high - shared.low) : shared.high;
    const side = Math.min(width, 560);
    const tick = (at) => (at > shared.high ? '' : at);
    const plot = axes(side, side * 0.8,
      { low: shared.low, high, name: `${view.campaigns[0].name}: latency (ms)`, tick },
      { low: shared.low, high, name: `${one.name}: latency (ms)`, tick },
      `Latencies of ${one.points.length} pairs of trials. Above the line the second is later.`);
    plot.picture.append(draw('line', {
      x1: plot.along(shared.low), y1: plot.up(shared.low), x2: plot.along(high), y2: plot.up(high),
      class: 'ss-diagonal' }));
    if (hasNone) {
      plot.picture.append(
        draw('text', { x: plot.left + 4, y: plot.up(beyond) - 3, class: 'ss-small ss-faint' },
             'no reaction'));
    }
    for (const [scenario, before, after, first, second, , trial] of one.points) {
      const [x, y] = [plot.along(before ?? beyond), plot.up(after ?? beyond)];
      const flip = decided(first) && decided(second) ? RANKS[second] - RANKS[first] : 0;
      const node = draw('circle', { cx: x, cy: y, r: flip ? 5 : 3.2,
        class: 'ss-pair ' + (flip > 0 ? 'ss-lost' : flip < 0 ? 'ss-won' : '') },
        draw('title', {}, `${one.scenarios[scenario]}: ${said(before)} ${first}, ` +
                          `${said(after)} ${second}`));
      if (open) node.addEventListener('click', () => open(trial, which));
      plot.picture.append(node);
    }
    return plot.picture;
  }

  const decided = (verdict) => verdict === 'PASS' || verdict === 'FAIL';

  const said = (ms) => (ms === null ? 'no reaction' : figure(ms, 'ms', 1));

  function flipsPart(view, number, open) {
    const flips = view.flips[number];
    const found = [flips.of ? flipsTable(view, number, open, flips.list,
      `${flips.of} pairs of which one passes and the other fails`, flips.of)
      : make('p', {}, 'No pair of trials passes on one side and fails on the other.')];
    if (flips.open_of) {
      found.push(make('p', { class: 'ss-note' }, 'INCONCLUSIVE and ERROR tell nothing of a ' +
        'controller: these pairs are no loss and no gain.'),
      flipsTable(view, number, open, flips.open,
        `${flips.open_of} pairs with another verdict, not judged on one side`, flips.open_of));
    }
    return found;
  }

  function flipsTable(view, number, open, list, caption, of) {
    const button = (trial, which, label) => (open
      ? make('button', { type: 'button', class: 'ss-jump', click: () => open(trial, which),
                         'aria-label': `Show trial ${trial} of ${label}` }, 'show')
      : null);
    return make('div', { class: 'ss-wide', tabindex: 0, role: 'region',
                         'aria-label': `${view.flips[number].name}: ${caption}` },
      make('table', { class: 'ss-table' },
        make('caption', {}, caption + (list.length < of ? `, ${list.length} of them here` : '')),
        make('thead', {}, make('tr', {}, ['scenario', 'trial', 'first', 'second', 'why'].map(
          (name) => make('th', { scope: 'col' }, name)))),
        make('tbody', {}, list.map(([scenario, trial, first, second, why, a, b]) =>
          make('tr', {}, make('th', { scope: 'row' }, words(scenario)), make('td', {}, trial),
            make('td', {}, badge(first), ' ', button(a, 0, view.campaigns[0].name)),
            make('td', {}, badge(second), ' ', button(b, number + 1, view.flips[number].name)),
            make('td', {}, words(why)))))));
  }

  function pairedPart(view, width, open) {
    return view.paired.map((one, number) => make('section', { class: 'ss-part' },
      make('h3', {}, 'Pair by pair: ', words(one.name)),
      one.points.length ? [
        make('p', { class: 'ss-note' }, 'Each point is a trial under both; above the line it is ' +
          'later under the second. Large and coloured: the verdict is another.' +
          (one.points.length < one.of ? ` ${one.points.length} of ${one.of} pairs are drawn.` : '')),
        pairedPlot(view, one, width, open, number + 1)]
        : make('p', {}, 'No latency could be measured under both.'),
      flipsPart(view, number, open)));
  }

  // ---------------------------------------------------------------- Pareto

  function paretoPart(view, width) {
    if (!view.pareto.length) return null;
    const names = view.campaigns.map((one) => one.name);
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'Safety against what it costs'),
      make('p', { class: 'ss-note' }, 'Less is better on both axes. A large point with a ring is on ' +
        'the Pareto front: no other one is as good on both and better on one by more than the ' +
        'intervals. Lines are 95 % ' +
        'intervals; of scenarios they join the same one under each.'),
      legend(names),
      view.pareto.map((plot) => [make('h4', {}, plot.title), paretoPlot(plot, names, width)]));
  }

  function paretoPlot(plot, names, width) {
    const ends = (axis) => plot.points.flatMap((one) => [one[axis], ...(one[axis + '_range'] || [])]);
    const percent = (unit) => (unit === '1' ? (at) => Math.round(at * 100) + ' %' : undefined);
    const named = (axis) => axis.name + (axis.unit === '1' ? '' : ` (${axis.unit})`);
    const x = { ...range(ends('x'), named(plot.x)), tick: percent(plot.x.unit) };
    const y = { ...range(ends('y'), named(plot.y)), tick: percent(plot.y.unit) };
    const drawn = axes(Math.min(width, 640), 340, x, y, plot.title + ': ' + plot.points.map((one) =>
      `${one.scenario ? one.scenario + ', ' : ''}${one.name}: ${one.x} and ${one.y}` +
      (one.front ? ', on the front' : '')).join('; '));
    const byScenario = new Map();
    for (const one of plot.points) {
      if (one.scenario) byScenario.set(one.scenario, [...(byScenario.get(one.scenario) || []), one]);
    }
    for (const found of byScenario.values()) {
      if (found.length > 1) {
        drawn.picture.append(draw('polyline', { class: 'ss-join', points: found.map(
          (one) => `${drawn.along(one.x)},${drawn.up(one.y)}`).join(' ') }));
      }
    }
    for (const one of plot.points) {
      const which = names.indexOf(one.name);
      if (!one.scenario && one.x_range) {
        drawn.picture.append(draw('line', { x1: drawn.along(one.x_range[0]), y1: drawn.up(one.y),
          x2: drawn.along(one.x_range[1]), y2: drawn.up(one.y), class: 'ss-whisker' }));
      }
      if (!one.scenario && one.y_range) {
        drawn.picture.append(draw('line', { x1: drawn.along(one.x), y1: drawn.up(one.y_range[0]),
          x2: drawn.along(one.x), y2: drawn.up(one.y_range[1]), class: 'ss-whisker' }));
      }
      drawn.picture.append(mark(drawn.along(one.x), drawn.up(one.y), which, one.front ? 6 : 4,
        { class: one.front ? 'ss-front' : '' },
        `${one.scenario ? one.scenario + ', ' : ''}${one.name}: ${plot.x.name} ${one.x}, ` +
        `${plot.y.name} ${one.y}`));
    }
    return drawn.picture;
  }

  // ---------------------------------------------------------------- degradation

  /** One of two plots over a number that was varied: passed, or latency. */
  function variedPlot(plot, key, y, width) {
    const steps = plot.series.flatMap((one) => one.steps);
    const x = range(steps.flatMap((step) => [step.low, step.high]), plot.parameter, 0.04);
    const told = plot.series.map((one) => `${one.name}: ` + one.steps.map((step) =>
      `at ${at(step)} ${stated(step[key], y.say)}`).join(', ')).join('; ');
    const drawn = axes(width, 250, x, y, `${y.name} over ${plot.parameter}. ${told}`);
    plot.series.forEach((one, which) => {
      const beside = plot.series.length > 8 ? 0 : 6 * (which - (plot.series.length - 1) / 2);
      const place = (step) => drawn.along((step.low + step.high) / 2) + beside;
      const whisker = `ss-own ss-of ss-of-${which % SHAPES.length}`;
      const known = one.steps.filter((step) => step[key][0] !== null);
      drawn.picture.append(draw('polyline', { class: 'ss-join', points: known.map(
        (step) => `${place(step)},${drawn.up(step[key][0])}`).join(' ') }));
      for (const step of known) {
        const [value, low, high] = step[key];
        const ends = [low ?? y.low, high ?? y.high];
        if (low !== null || high !== null) {
          drawn.picture.append(draw('line', { x1: place(step), x2: place(step),
            y1: drawn.up(ends[0]), y2: drawn.up(ends[1]), class: whisker }));
        }
        if (step.high > step.low) {
          drawn.picture.append(draw('line', { x1: drawn.along(step.low),
            x2: drawn.along(step.high), y1: drawn.up(value), y2: drawn.up(value),
            class: whisker }));
        }
        drawn.picture.append(mark(place(step), drawn.up(value), which, 4, {},
          `${one.name}: ${plot.parameter} ${at(step)}, ${stated(step[key], y.say)}, ` +
          `${step.trials} trials`));
      }
    });
    return drawn.picture;
  }

  const at = (step) => (step.low === step.high ? `${step.low}` : `${step.low} to ${step.high}`);

  function stated([value, low, high], say) {
    if (value === null) return 'no number';
    const end = (one, round) => (one === null ? 'unbounded' : say(one, round));
    return say(value) + (low === null && high === null ? ''
      : ` [${end(low, Math.floor)}, ${end(high, Math.ceil)}]`);
  }

  function variedTable(plot, percent, ms) {
    const heads = ['what', plot.parameter, 'trials', 'not judged', 'differ', 'passed',
      'median latency'];
    return make('details', {}, make('summary', {}, 'As numbers'),
      make('div', { class: 'ss-wide', tabindex: 0, role: 'region', 'aria-label': plot.title },
        make('table', { class: 'ss-table' },
          make('thead', {}, make('tr', {}, heads.map((name) => make('th', { scope: 'col' },
            words(name))))),
          make('tbody', {}, plot.series.flatMap((one) => one.steps.map((step) => make('tr', {},
            make('th', { scope: 'row' }, words(one.name)), make('td', {}, at(step)),
            make('td', {}, step.trials), make('td', {}, step.undecided), make('td', {}, step.n),
            make('td', {}, stated(step.passed, percent)),
            make('td', {}, stated(step.ms, ms)))))))));
  }

  /** Show trials over one number that was varied, which the reader chooses. */
  function showVaried(plots, element) {
    const width = Math.max(280, Math.min(1100, Math.round(element.clientWidth || 720)));
    const here = make('div', {});
    // ends of an interval are rounded outwards, but not for the noise of a product
    const tenths = (value, round = Math.round) => round(Number((value * 10).toFixed(6))) / 10;
    const percent = (share, round) => `${tenths(share * 100, round)} %`;
    const ms = (value, round) => figure(tenths(value, round), 'ms', 1);
    const chooser = make('select', { id: 'over-what' }, plots.map((plot, number) => make(
      'option', { value: number }, words(plot.title))));
    const show = () => {
      const plot = plots[Number(chooser.value)];
      const latencies = plot.series.flatMap((one) => one.steps.flatMap((step) => step.ms));
      here.replaceChildren(
        make('h3', {}, 'Share of trials that passed'),
        variedPlot(plot, 'passed', { low: 0, high: 1, name: 'passed', tick: percent, say: percent },
          width),
        make('h3', {}, 'Median latency'),
        latencies.some((value) => value !== null)
          ? variedPlot(plot, 'ms', { ...range(latencies, 'latency (ms)'), say: ms }, width)
          : make('p', { class: 'ss-note' }, 'No latency was measured, or no reaction came.'),
        legend(plot.series.map((one) => one.name)),
        plot.notes.map((text) => make('p', { class: 'ss-note' }, words(text))),
        variedTable(plot, percent, ms));
    };
    chooser.addEventListener('change', show);
    element.replaceChildren(make('div', { class: 'ss-comparison' },
      make('p', {}, make('label', {}, 'Over ', chooser)), here));
    show();
  }

  // ---------------------------------------------------------------- the whole

  function campaignsPart(view) {
    const share = (found, count) => (!found ? '-' : `${count[0]} of ${count[1]}` +
      (found[2] === null ? '' : `, at most ${Math.ceil(found[2] * 100)} %`));
    const mean = (found) => (!found ? '-' : figure(found[0], 's', 3));
    const inWorld = view.campaigns.some((one) => one.safety_cost !== undefined);
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'The campaigns'),
      make('div', { class: 'ss-wide', tabindex: 0, role: 'region', 'aria-label': 'The campaigns' },
        make('table', { class: 'ss-table' },
          make('thead', {}, make('tr', {}, ['campaign', 'verdict', 'trials', 'hazards missed',
            'false stops', ...(inWorld ? ['exposed to risk', 'safety cost', 'time lost'] : [])].map(
              (name) => make('th', { scope: 'col' }, name)))),
          make('tbody', {}, view.campaigns.map((one) => make('tr', {},
            make('th', { scope: 'row' }, words(one.name)), make('td', {}, badge(one.verdict)),
            make('td', {}, one.trials), make('td', {}, share(one.missed, one.missed_of)),
            make('td', {}, share(one.false_stops, one.false_stops_of)),
            inWorld ? [one.exposure_s, one.safety_cost, one.time_lost_s].map(
              (found) => make('td', {}, mean(found))) : null))))));
  }

  /** Show how campaigns compare in an element, in place of what is in it. */
  function showComparison(view, element, options) {
    const open = options && options.open;
    const width = Math.max(280, Math.min(1100, Math.round(element.clientWidth || 720)));
    element.replaceChildren(make('div', { class: 'ss-comparison' },
      answersPart(view), campaignsPart(view), pairedPart(view, width, open),
      paretoPart(view, width)));
  }

  space.showComparison = showComparison;
  space.showVaried = showVaried;
})(globalThis.SafetyScenarios = globalThis.SafetyScenarios || {});
