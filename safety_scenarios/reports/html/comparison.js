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
 * Campaigns side by side: SafetyScenarios.showComparison(view, element, options).
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
                    'aria-label': 'Questions and answers of the comparison' },
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
      const flip = RANKS[second] - RANKS[first];
      const node = draw('circle', { cx: x, cy: y, r: flip ? 5 : 3.2,
        class: 'ss-pair ' + (flip > 0 ? 'ss-lost' : flip < 0 ? 'ss-won' : '') },
        draw('title', {}, `${one.scenarios[scenario]}: ${said(before)} ${first}, ` +
                          `${said(after)} ${second}`));
      if (open) node.addEventListener('click', () => open(trial, which));
      plot.picture.append(node);
    }
    return plot.picture;
  }

  const said = (ms) => (ms === null ? 'no reaction' : figure(ms, 'ms', 1));

  function flipsPart(view, number, open) {
    const flips = view.flips[number];
    if (!flips.of) return make('p', {}, 'No pair of trials has another verdict.');
    const button = (trial, which, label) => (open
      ? make('button', { type: 'button', class: 'ss-jump', click: () => open(trial, which),
                         'aria-label': `Show trial ${trial} of ${label}` }, 'show')
      : null);
    return make('div', { class: 'ss-wide', tabindex: 0, role: 'region',
                         'aria-label': 'Pairs of trials with other verdicts' },
      make('table', { class: 'ss-table' },
        make('caption', {}, `${flips.of} pairs with another verdict` +
          (flips.list.length < flips.of ? `, ${flips.list.length} of them here` : '')),
        make('thead', {}, make('tr', {}, ['scenario', 'trial', 'first', 'second', 'why'].map(
          (name) => make('th', { scope: 'col' }, name)))),
        make('tbody', {}, flips.list.map(([scenario, trial, first, second, why, a, b]) =>
          make('tr', {}, make('th', { scope: 'row' }, words(scenario)), make('td', {}, trial),
            make('td', {}, badge(first), ' ', button(a, 0, view.campaigns[0].name)),
            make('td', {}, badge(second), ' ', button(b, number + 1, flips.name)),
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
        'the Pareto front: no other one is as good on both and better on one. Lines are 95 % ' +
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

  function degradationPart(view, width) {
    if (!view.degradation.length) return null;
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'Over what was varied'),
      make('p', { class: 'ss-note' }, 'Latency over a parameter that was drawn for each trial, or ' +
        'that the controllers differ in. Above the dotted line nothing reacted; a trial that did ' +
        'not pass has a ring.'),
      view.degradation.map((plot) => {
        const names = plot.scenario === null ? plot.series.map((one) => one.name)
          : view.campaigns.map((one) => one.name);
        return [make('h4', {}, plot.scenario === null
          ? ['Median latency of each scenario over ', words(plot.parameter)]
          : [words(plot.scenario), ' over ', words(plot.parameter)]),
        degradationPlot(plot, names, width), legend(plot.scenario === null ? names : names.filter(
          (name) => plot.series.some((one) => one.name === name))),
        plot.left_out ? make('p', { class: 'ss-note' }, `${plot.left_out} trials are left out.`)
          : null];
      }));
  }

  function degradationPlot(plot, names, width) {
    const points = plot.series.flatMap((one) => one.points);
    const x = range(points.map((point) => point[0]), plot.parameter, 0.04);
    const known = points.map((point) => point[1]).filter((value) => value !== null);
    const y = range(known, 'latency (ms)');
    const limit = y.high;
    const hasNone = points.some((point) => point[1] === null);
    if (hasNone) y.high += 0.12 * (y.high - y.low);
    const beyond = limit + 0.06 * (limit - y.low);
    const drawn = axes(Math.min(width, 640), 280, x,
      { ...y, tick: (at) => (at > limit ? '' : at) },
      `Latency over ${plot.parameter}${plot.scenario ? ' of ' + plot.scenario : ''}, ` +
      `${points.length} points`);
    if (hasNone) {
      drawn.picture.append(draw('line', { x1: drawn.left, x2: drawn.left + drawn.wide,
        y1: drawn.up(limit), y2: drawn.up(limit), class: 'ss-diagonal' }));
    }
    for (const one of plot.series) {
      const which = Math.max(0, names.indexOf(one.name));
      if (plot.scenario === null) {
        const seen = one.points.filter((point) => point[1] !== null);
        drawn.picture.append(draw('polyline', { class: 'ss-join', points: seen.map(
          (point) => `${drawn.along(point[0])},${drawn.up(point[1])}`).join(' ') }));
      }
      for (const [value, ms, verdict] of one.points) {
        drawn.picture.append(mark(drawn.along(value), drawn.up(ms ?? beyond), which, 3.5,
          { class: verdict && verdict !== 'PASS' ? 'ss-failed' : '' },
          `${one.name}: ${plot.parameter} ${value}, ${said(ms)} ${verdict}`));
      }
    }
    return drawn.picture;
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
      paretoPart(view, width), degradationPart(view, width)));
  }

  space.showComparison = showComparison;
})(globalThis.SafetyScenarios = globalThis.SafetyScenarios || {});
