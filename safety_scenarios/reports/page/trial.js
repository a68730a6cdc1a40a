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
 * One trial in a browser: SafetyScenarios.showTrial(view, element).
 *
 * The view is what reports/trial_view/view.py returns. Everything in it is shown as text: nodes are
 * made one by one and given textContent, so that nothing in a record can become markup. The parts
 * that comparison.js needs too are in SafetyScenarios.drawing.
 */
(function (space) {
  'use strict';

  const SVG = 'http://www.w3.org/2000/svg';
  /** What is faster than so many m/s is a jump: somebody is put somewhere else. */
  const JUMP = 8;
  let shown = 0;

  /** Make an element; children are nodes, or what is shown as text. */
  function make(name, attributes, ...children) {
    return fill(document.createElement(name), attributes, children);
  }

  /** Make an element of a drawing. */
  function draw(name, attributes, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
  }

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === 'function') node.addEventListener(name, value);
      else node.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children.flat(4)) {
      if (child === null || child === undefined || child === false) continue;
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return node;
  }

  /** Text from outside: its own direction never turns around what stands beside it. */
  function words(text, attributes) {
    return make('bdi', { dir: 'auto', ...attributes }, text);
  }

  /** A time in words. */
  function seconds(ms) {
    const text = (Math.abs(ms) / 1000).toFixed(2);
    return (ms > 4 ? '+' : ms < -4 ? '\u2212' : '') + text + ' s';
  }

  function figure(value, unit, digits = 2) {
    if (value === null || value === undefined) return 'not known';
    const text = Number(value).toFixed(digits).replace('-', '\u2212');
    return unit ? text + ' ' + unit : text;
  }

  /** Round numbers that divide a range well. */
  function ticks(low, high, wanted) {
    const raw = (high - low) / Math.max(1, wanted);
    if (!(raw > 0) || !Number.isFinite(raw)) return [low];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw - 1e-12);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) {
      found.push(Number((at * step).toPrecision(12)));
    }
    return found;
  }

  /** The place in an ascending list of the last value that is not above another; 0 at least. */
  function placeAt(times, t) {
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= t) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** What a held series is at a time; null before it begins. */
  function heldAt(times, values, t) {
    return !times.length || t < times[0] ? null : values[placeAt(times, t)];
  }

  /** What lies between two samples of a series that goes straight. */
  function between(times, values, t) {
    const place = placeAt(times, t);
    const [value, next] = [values[place], values[place + 1]];
    if (value === null || value === undefined || t <= times[place]) return value ?? null;
    if (next === null || next === undefined) return value;
    return value + (next - value) * (t - times[place]) / (times[place + 1] - times[place]);
  }

  /** Where a body is at a time: what comes to stand somewhere else at once has not walked there. */
  function whereAt(times, xs, ys, t) {
    const place = placeAt(times, t);
    const [nextX, nextY] = [xs[place + 1], ys[place + 1]];
    if (nextX === null || nextX === undefined) return [xs[place], ys[place]];
    const apart = Math.hypot(nextX - xs[place], nextY - ys[place]);
    if (apart > JUMP * (times[place + 1] - times[place]) / 1000) return [xs[place], ys[place]];
    return [between(times, xs, t), between(times, ys, t)];
  }

  const verdictName = (verdict) => verdict || 'not evaluated';
  const verdictClass = (verdict) => 'ss-' + (verdict || 'none').toLowerCase();

  function badge(verdict) {
    return make('span', { class: 'ss-badge ' + verdictClass(verdict) }, verdictName(verdict));
  }

  // ---------------------------------------------------------------- latency

  function latencyPlot(view, width) {
    const latency = view.latency;
    const [target, acceptable, critical] = latency.budget_ms;
    const most = 1.15 * Math.max(critical, latency.high_ms || 0, latency.ms || 0,
                                 latency.confirmed_ms || 0);
    const left = 8;
    const wide = width - 2 * left;
    const x = (ms) => left + wide * Math.max(0, Math.min(ms, most)) / most;
    const picture = draw('svg', {
      viewBox: `0 0 ${width} 62`, class: 'ss-picture', role: 'img',
      'aria-label': `Latency: ${latency.sentence}. Budget: target ${target} ms, acceptable ` +
        `${acceptable} ms, critical ${critical} ms.` });
    const bands = [[0, target, 'target'], [target, acceptable, 'acceptable'],
                   [acceptable, critical, 'critical'], [critical, most, 'violation']];
    for (const [from, to, name] of bands) {
      picture.append(draw('rect', {
        x: x(from), y: 18, width: Math.max(0, x(to) - x(from)), height: 16,
        class: 'ss-band ss-band-' + name }));
      if (x(to) - x(from) > 7 * name.length) {
        picture.append(draw('text', { x: x(from) + 4, y: 13, class: 'ss-small' }, name));
      }
    }
    const limits = ticks(0, most, Math.max(2, width / 110));
    for (const at of limits) {
      picture.append(draw('line', { x1: x(at), x2: x(at), y1: 34, y2: 38, class: 'ss-axis' }),
                     draw('text', { x: x(at), y: 50, class: 'ss-small', 'text-anchor':
                       at === limits[0] ? 'start' : at === limits[limits.length - 1] &&
                       x(at) > width - 30 ? 'end' : 'middle' }, at + ' ms'));
    }
    if (latency.ms !== null) {
      picture.append(
        draw('line', { x1: x(latency.low_ms), x2: x(latency.high_ms), y1: 26, y2: 26,
                       class: 'ss-interval' }),
        draw('circle', { cx: x(latency.ms), cy: 26, r: 5, class: 'ss-point' }));
    } else {
      picture.append(draw('text', { x: width - left, y: 30, 'text-anchor': 'end',
                                    class: 'ss-small ss-strong' }, 'no reaction \u2192'));
    }
    return picture;
  }

  /** A stacked bar of where the time went; the same stands below it in words. */
  function partsPlot(latency, width) {
    const parts = (latency.parts || []).filter((one) => one.ms > 0);
    if (!parts.length) return null;
    const left = 8;
    const before = parts.filter((one) => !one.is_after).reduce((sum, one) => sum + one.ms, 0);
    const unknown = Math.max(0, latency.ms - before);
    const after = parts.filter((one) => one.is_after);
    const shown = [...parts.filter((one) => !one.is_after),
      ...(unknown >= 0.5 ? [{ name: 'unknown', label: 'unknown', ms: unknown, way: null }] : []),
      ...after];
    const most = shown.reduce((sum, one) => sum + one.ms, 0);
    const scale = (width - 2 * left) / most;
    const picture = draw('svg', {
      viewBox: `0 0 ${width} 40`, class: 'ss-picture ss-parts', role: 'img',
      'aria-label': `Where the time went: ${latency.parts_sentence}.` });
    let x = left;
    for (const one of shown) {
      const wide = one.ms * scale;
      const way = one.way === null ? '' : `, ${figure(one.way, latency.parts_unit, 3)}`;
      picture.append(draw('rect', {
        x, y: 16, width: wide, height: 18,
        class: `ss-reaction-part ss-reaction-${one.name}` },
        draw('title', {}, `${one.label}: ${figure(one.ms, 'ms', 1)}${way}`)));
      if (wide > 6.5 * one.label.length) {
        picture.append(draw('text', { x: x + 3, y: 12, class: 'ss-small' }, one.label));
      }
      x += wide;
    }
    const command = left + latency.ms * scale;
    picture.append(draw('line', { x1: command, x2: command, y1: 14, y2: 38,
                                  class: 'ss-interval' }));
    return picture;
  }

  function latencyPart(view, width) {
    if (!view.latency) return null;
    const cost = view.cost;
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'Latency'),
      latencyPlot(view, width),
      make('p', {}, words(view.latency.sentence), '.'),
      partsPlot(view.latency, width),
      view.latency.parts === undefined ? null : make('p', {},
        'Where the time went, by the stamps of the controller: ',
        words(view.latency.parts_sentence), '.',
        view.latency.implausible.length ? ' Stamps that cannot be true were ignored: ' +
          view.latency.implausible.join(', ') + '.' : ''),
      view.latency.stands_sentence === undefined ? null : make('p', {},
        words(view.latency.stands_sentence), '.'),
      view.latency.confirmed_ms === undefined ? null : make('p', {},
        `The robot confirmed it after ${figure(view.latency.confirmed_ms, 'ms', 1)}: ` +
        `${view.latency.confirmed_class}.`),
      cost === null ? null : make('p', {},
        `In metres: with this reaction it needs ${figure(cost.required, 'm')} at ` +
        `${figure(cost.speed, 'm/s')}; ` + (cost.available === null
          ? 'how much there was is not known' : `there were ${figure(cost.available, 'm')}, ` +
          `${figure(cost.left, 'm')} left`) +
        `. A further 100 ms cost ${figure(cost.per_100_ms, 'm', 3)}.`));
  }

  // ---------------------------------------------------------------- timeline

  /** The timeline: returns the picture and what moves its cursor. */
  function timeline(view, width, [from, to]) {
    const labelled = width >= 560;
    const left = labelled ? 132 : 8;
    const right = 12;
    const wide = width - left - right;
    const x = (t) => left + wide * (Math.max(from, Math.min(t, to)) - from) / (to - from);
    const picture = draw('svg', { class: 'ss-picture ss-timeline', role: 'img',
      'aria-label': 'Timeline. The same is told in the lists below.' });
    let y = 4;
    const lanes = [];

    /** Begin a lane: its label stands beside it, on a narrow screen above it. */
    function lane(name, height) {
      if (!labelled) y += 13;
      const top = y;
      picture.append(draw('text', {
        x: labelled ? left - 8 : left, y: labelled ? top + Math.min(height, 26) / 2 + 4 : top - 3,
        'text-anchor': labelled ? 'end' : 'start', class: 'ss-small ss-lane' },
        cut(name, labelled ? 20 : 46), draw('title', {}, name)));
      lanes.push([top, height]);
      y += height + 7;
      return top;
    }

    const phaseTop = lane('phase', 18);
    for (const phase of view.phases) {
      const [begin, end] = [x(phase.begin), x(phase.end)];
      if (end - begin < 0.5) continue;
      picture.append(draw('rect', { x: begin, y: phaseTop, width: end - begin, height: 18,
                                    class: 'ss-phase ss-phase-' + phaseKind(phase.name) }));
      if (end - begin > 6.4 * phase.name.length) {
        picture.append(draw('text', { x: (begin + end) / 2, y: phaseTop + 13,
                                      'text-anchor': 'middle', class: 'ss-small' }, phase.name));
      }
    }
    for (const one of view.stimuli) {
      const top = lane(one.topic + (one.hazard ? ' (hazard)' : ''), 12);
      for (const [begin, end] of one.spans) {
        if (end < from || begin > to) continue;
        picture.append(draw('rect', {
          x: x(begin), y: top, width: Math.max(3, x(end) - x(begin)), height: 12, rx: 2,
          class: one.hazard ? 'ss-bar ss-hazard' : 'ss-bar' },
          draw('title', {}, `${one.what}, ${seconds(begin)} to ${seconds(end)}`)));
      }
    }
    if (view.words.length) {
      const top = lane('words and tool calls', 14);
      for (const one of view.words) {
        if (one.t < from || one.t > to) continue;
        picture.append(draw('path', {
          d: `M${x(one.t)} ${top} l4 7 l-4 7 l-4 -7 z`,
          class: one.sut ? 'ss-word ss-sut' : 'ss-word' },
          draw('title', {}, `${seconds(one.t)} ${one.who}: ${cut(one.text, 120)}`)));
      }
    }
    for (const one of view.commands) {
      seriesLane(`${one.name} (${one.unit})`, 42,
                 [{ t: one.t, v: one.v, held: true, class: one.commanded ? 'ss-commanded' : 'ss-fed' }]);
    }
    const truth = view.truth;
    if (truth && truth.speed.some((value) => value !== null)) {
      seriesLane('robot\u2019s speed (m/s)', 42, [{ t: truth.t, v: truth.speed, class: 'ss-speed' }]);
    }
    if (truth && truth.gap.some((value) => value !== null)) {
      const series = [{ t: truth.t, v: truth.gap, class: 'ss-gap', name: 'gap' }];
      if (truth.required.some((value) => value !== null)) {
        series.unshift({ t: truth.t, v: truth.required, class: 'ss-required', name: 'S_p',
                         area: true });
      }
      seriesLane(series.length > 1 ? 'gap, S_p dashed (m)' : 'gap (m)', 64, series);
    }

    /** Series over time in a lane of their own, with the limits of their scale. */
    function seriesLane(name, height, series) {
      const top = lane(name, height);
      const known = series.flatMap((one) => one.v.filter(
        (value, place) => value !== null && one.t[place] <= to &&
          (one.held || one.t[place] >= from)));
      let low = Math.min(0, ...known);
      let high = Math.max(low + 0.01, ...known);
      if (!known.length) [low, high] = [0, 1];
      const scale = (value) => top + height - 2 - (height - 4) * (value - low) / (high - low);
      picture.append(
        draw('rect', { x: left, y: top, width: wide, height, class: 'ss-frame' }),
        draw('line', { x1: left, x2: left + wide, y1: scale(0), y2: scale(0), class: 'ss-axis' }));
      for (const one of series) {
        for (const path of paths(one, x, scale, from, to)) {
          if (one.area) {
            picture.append(draw('path', { class: 'ss-area', d: path.line +
              `L${path.end} ${scale(0)}L${path.begin} ${scale(0)}Z` }));
          }
          picture.append(draw('path', { d: path.line, class: 'ss-line ' + one.class }));
        }
      }
      picture.append(draw('text', { x: left + wide - 3, y: top + 10, 'text-anchor': 'end',
                                    class: 'ss-small ss-faint' }, Number(high.toPrecision(3))));
      if (low < 0) {
        picture.append(draw('text', { x: left + wide - 3, y: top + height - 3,
          'text-anchor': 'end', class: 'ss-small ss-faint' }, Number(low.toPrecision(3))));
      }
    }

    const bottom = y;
    picture.append(draw('line', { x1: left, x2: left + wide, y1: bottom, y2: bottom,
                                  class: 'ss-axis' }));
    for (const at of ticks(from / 1000, to / 1000, wide / 80)) {
      picture.append(
        draw('line', { x1: x(at * 1000), x2: x(at * 1000), y1: bottom, y2: bottom + 4,
                       class: 'ss-axis' }),
        draw('text', { x: x(at * 1000), y: bottom + 16, 'text-anchor': 'middle',
                       class: 'ss-small' }, at === 0 ? '0' : String(at).replace('-', '\u2212')));
    }
    picture.append(draw('text', { x: left + wide, y: bottom + 30, 'text-anchor': 'end',
                                  class: 'ss-small' }, `s after ${view.zero}`));
    const marks = [...view.moments.map((one) => ({ ...one, class: 'ss-moment' })),
                   ...view.findings.filter((one) => one.at !== null && one.verdict !== 'PASS')
                     .map((one) => ({ t: one.at, what: one.check, text: one.reason,
                                      class: 'ss-mark ' + verdictClass(one.verdict) }))];
    for (const one of marks) {
      if (one.t < from || one.t > to) continue;
      picture.append(draw('line', { x1: x(one.t), x2: x(one.t), y1: phaseTop + 18, y2: bottom,
                                    class: one.class },
                          draw('title', {}, `${seconds(one.t)} ${one.what}: ${one.text}`)));
    }
    const cursor = draw('line', { y1: 2, y2: bottom, class: 'ss-cursor' });
    picture.append(cursor);
    picture.setAttribute('viewBox', `0 0 ${width} ${bottom + 36}`);
    return {
      picture,
      from, to,
      timeAt: (share) => from + (to - from) * Math.max(0, Math.min(1,
        (share * width - left) / wide)),
      move(t) {
        cursor.setAttribute('x1', x(t));
        cursor.setAttribute('x2', x(t));
      } };
  }

  function phaseKind(name) {
    return name.startsWith('after') ? 'after' : name.replace(/ .*/, '');
  }

  function cut(text, most) {
    const letters = Array.from(text);
    return letters.length <= most ? text : letters.slice(0, most - 1).join('') + '\u2026';
  }

  /** The strokes of a series: it is broken where a value is not known. */
  function paths(one, x, scale, from, to) {
    const found = [];
    let line = '';
    let begin = 0;
    let last = null;
    const close = (end) => {
      if (line) found.push({ line: line + (one.held ? `H${x(end)}` : ''), begin, end: x(end) });
      line = '';
    };
    one.t.forEach((t, place) => {
      const value = one.v[place];
      if (t > to && last !== null && !one.held) {
        if (line && value !== null) {
          const cutAt = last.v + (value - last.v) * (to - last.t) / (t - last.t);
          line += `L${x(to)} ${scale(cutAt)}`;
        }
        close(to);
        last = null;
        return;
      }
      if (t > to) return;
      if (value === null) {
        close(t);
      } else if (!line || t < from) {
        begin = x(t);
        const shownValue = !one.held && t < from && one.t[place + 1] > from &&
          one.v[place + 1] !== null ? between(one.t, one.v, from) : value;
        line = `M${x(t)} ${scale(shownValue)}`;
      } else {
        line += one.held ? `H${x(t)}V${scale(value)}` : `L${x(t)} ${scale(value)}`;
      }
      last = value === null ? null : { t, v: value };
    });
    close(last === null ? to : one.held ? to : Math.min(to, last.t));
    return found;
  }

  // ---------------------------------------------------------------- seen from above

  /** The view from above: the picture, and what shows a moment in it. */
  function fromAbove(view, width, [from, to]) {
    const truth = view.truth;
    const robot = truth.robot;
    const px = robot.tool_x || robot.x;
    const py = robot.tool_y || robot.y;
    const inside = truth.t.map((t, place) => place).filter(
      (place) => truth.t[place] >= from - 1 && truth.t[place] <= to + 1);
    const xs = [];
    const ys = [];
    for (const place of inside) {
      const reach = robot.footprint + 0.35;
      xs.push(px[place] - reach, px[place] + reach, robot.x[place]);
      ys.push(py[place] - reach, py[place] + reach, robot.y[place]);
      for (const body of truth.bodies) {
        if (body.x[place] === null) continue;
        const away = Math.hypot(body.x[place] - px[place], body.y[place] - py[place]);
        if (away > 8) continue;
        xs.push(body.x[place] - 0.5, body.x[place] + 0.5);
        ys.push(body.y[place] - 0.5, body.y[place] + 0.5);
      }
    }
    let [low, high, near, far] = [Math.min(...ys), Math.max(...ys), Math.min(...xs), Math.max(...xs)];
    if (!inside.length) [low, high, near, far] = [-1, 1, -1, 1];
    const least = 2.2;
    if (far - near < least) [near, far] = [(near + far - least) / 2, (near + far + least) / 2];
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    const height = Math.round(Math.max(180, Math.min(
      420, width * 0.9, width * (high - low) / (far - near))));
    const unit = Math.min(width / (far - near), height / (high - low));
    const x = (value) => width / 2 + (value - (near + far) / 2) * unit;
    const y = (value) => height / 2 - (value - (low + high) / 2) * unit;
    const points = (list) => list.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(' ');
    const picture = draw('svg', { viewBox: `0 0 ${width} ${height}`,
                                  class: 'ss-picture ss-above', role: 'img' });
    for (const at of ticks(near - 20, far + 20, (far - near + 40) * unit / 60)) {
      if (x(at) < 0 || x(at) > width) continue;
      picture.append(draw('line', { x1: x(at), x2: x(at), y1: 0, y2: height, class: 'ss-grid' }),
        draw('text', { x: x(at) + 2, y: height - 3, class: 'ss-small ss-faint' }, at + ' m'));
    }
    for (const at of ticks(low - 20, high + 20, (high - low + 40) * unit / 60)) {
      if (y(at) < 0 || y(at) > height) continue;
      picture.append(draw('line', { x1: 0, x2: width, y1: y(at), y2: y(at), class: 'ss-grid' }));
    }
    for (const one of truth.scenery) {
      picture.append(draw('polygon', { points: points(one.corners),
                                       class: one.glass ? 'ss-wall ss-glass' : 'ss-wall' }));
    }
    if (truth.route.length > 1) {
      picture.append(draw('polyline', { points: points(truth.route), class: 'ss-route' }));
    }
    for (const body of truth.bodies) {
      const path = truth.t.map((t, place) => place).filter(
        (place) => truth.t[place] >= 0 && truth.t[place] <= to && body.x[place] !== null);
      for (const stretch of stretches(path, truth.t, body)) {
        picture.append(draw('polyline', {
          points: points(stretch.map((place) => [body.x[place], body.y[place]])),
          class: 'ss-path ss-' + look(body.kind) }));
      }
    }
    picture.append(draw('polyline', { points: points(px.map((value, place) => [value, py[place]])),
                                      class: 'ss-path ss-robot' }));
    const moving = draw('g', {});
    picture.append(moving);

    function move(t) {
      const place = placeAt(truth.t, t);
      const rx = between(truth.t, robot.x, t);
      const ry = between(truth.t, robot.y, t);
      const qx = between(truth.t, px, t);
      const qy = between(truth.t, py, t);
      const heading = robot.heading[place] || 0;
      moving.replaceChildren();
      const required = truth.required[place];
      if (required !== null) {
        const reach = (robot.footprint + required) * unit;
        moving.append(robot.tool_x
          ? draw('line', { x1: x(rx), y1: y(ry), x2: x(qx), y2: y(qy), class: 'ss-ring-wide',
                           'stroke-width': 2 * reach })
          : draw('circle', { cx: x(qx), cy: y(qy), r: reach, class: 'ss-ring' }));
      }
      for (const body of truth.bodies) {
        if (body.x[place] === null) continue;
        const [bx, by] = whereAt(truth.t, body.x, body.y, t);
        if (body.outline) {
          const turn = body.heading[place] || 0;
          moving.append(draw('polygon', { class: 'ss-body ss-' + look(body.kind), points: points(
            body.outline.map(([a, b]) => [bx + a * Math.cos(turn) - b * Math.sin(turn),
                                          by + a * Math.sin(turn) + b * Math.cos(turn)])) },
            draw('title', {}, body.name)));
        } else {
          moving.append(draw('circle', { cx: x(bx), cy: y(by),
            r: Math.max(3, (body.radius || 0.15) * unit), class: 'ss-body ss-' + look(body.kind) },
            draw('title', {}, body.name)));
        }
      }
      if (robot.tool_x) {
        moving.append(
          draw('line', { x1: x(rx), y1: y(ry), x2: x(qx), y2: y(qy), class: 'ss-arm' }),
          draw('circle', { cx: x(rx), cy: y(ry), r: Math.max(4, 0.1 * unit), class: 'ss-base' }),
          draw('circle', { cx: x(qx), cy: y(qy), r: Math.max(3, 0.08 * unit), class: 'ss-tool' }));
      } else {
        const size = Math.max(0.08, robot.footprint);
        const nose = [[0.85, 0], [-0.25, 0.45], [-0.25, -0.45]].map(([a, b]) => [
          rx + size * (a * Math.cos(heading) - b * Math.sin(heading)),
          ry + size * (a * Math.sin(heading) + b * Math.cos(heading))]);
        moving.append(
          draw('circle', { cx: x(rx), cy: y(ry), r: Math.max(4, size * unit), class: 'ss-base' }),
          draw('polygon', { points: points(nose), class: 'ss-tool' }));
      }
      picture.setAttribute('aria-label', 'Seen from above. ' + momentText(view, t));
    }
    return { picture, move };
  }

  /** The class of a body: another robot must not look like the one under test. */
  function look(kind) {
    return kind === 'robot' ? 'other' : kind;
  }

  /** The way of a body without the jumps in it. */
  function stretches(places, times, body) {
    const found = [];
    for (const place of places) {
      const last = found.length ? found[found.length - 1].at(-1) : null;
      const apart = last === null ? Infinity :
        Math.hypot(body.x[place] - body.x[last], body.y[place] - body.y[last]);
      if (last === null || apart > JUMP * (times[place] - times[last]) / 1000) found.push([place]);
      else found[found.length - 1].push(place);
    }
    return found.filter((stretch) => stretch.length > 1);
  }

  /** One moment of a trial in words. */
  function momentText(view, t) {
    const phase = view.phases.find((one) => t >= one.begin && t < one.end) ||
      view.phases[view.phases.length - 1];
    const parts = [seconds(t)];
    if (phase) parts.push(phase.name);
    const truth = view.truth;
    if (truth) {
      const place = placeAt(truth.t, t);
      parts.push('robot at ' + figure(between(truth.t, truth.speed, t), 'm/s'));
      parts.push('gap ' + figure(between(truth.t, truth.gap, t), 'm'));
      if (truth.required[place] !== null) parts.push('S_p ' + figure(truth.required[place], 'm'));
    }
    for (const one of view.commands.slice(0, 2)) {
      const value = heldAt(one.t, one.v, t);
      if (value !== null) parts.push(`${one.name} ${one.commanded ? 'commanded' : 'reported'} ` +
                                      figure(value, one.unit));
    }
    return parts.join(', ');
  }

  // ---------------------------------------------------------------- lists

  function timeButton(t, jump, of) {
    return make('button', { type: 'button', class: 'ss-jump', click: () => jump(t),
                            'aria-label': `Show ${seconds(t)} in the timeline` + (of ? `: ${of}` : '') },
                seconds(t));
  }

  function findingsPart(view, jump) {
    const rest = view.findings_left_out;
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'Findings'),
      make('ul', { class: 'ss-list ss-findings' }, view.findings.map((one) => make('li', {
        class: verdictClass(one.verdict) },
        badge(one.verdict), ' ', words(one.check, { class: 'ss-strong' }), ' ',
        one.margin === null ? null : make('span', { class: 'ss-margin' },
          `margin ${String(one.margin).replace('-', '\u2212')} ${one.unit || ''} `),
        one.at === null ? null : timeButton(one.at, jump, one.check),
        make('div', { class: 'ss-why' }, words(one.reason))))),
      rest ? make('p', { class: 'ss-note' }, `${rest} more findings are in the record.`) : null);
  }

  function momentsPart(view, jump) {
    const shownPhases = view.phases.map((one) => ({
      t: one.begin, what: one.name + ' begins', text: `until ${seconds(one.end)}` }));
    const found = [...shownPhases, ...view.moments].sort((one, other) => one.t - other.t);
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'What happened when'),
      make('ul', { class: 'ss-list' }, found.map((one) => make('li', {},
        timeButton(one.t, jump, one.what), ' ', make('strong', {}, words(one.what)), ' ',
        words(one.text)))),
      view.stimuli.length ? make('ul', { class: 'ss-list' }, view.stimuli.map((one) => make('li', {},
        make('strong', {}, words(one.topic)), one.hazard ? ' (hazard): ' : ': ',
        words(one.what), ', ',
        one.spans.map(([begin, end]) => `${seconds(begin)} to ${seconds(end)}`).join('; ')))) : null,
      view.stimuli_left_out ? make('p', { class: 'ss-note' },
        `${view.stimuli_left_out} more topics of stimuli are in the record.`) : null);
  }

  const SAID = { say: 'says', tool_call: 'calls', tool_result: 'is answered', response: 'answers',
                 prompt: 'in the prompt', call: 'is asked to', call_state: 'call', judge: 'judges' };

  function wordsPart(view, jump) {
    if (!view.words.length) return null;
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'Words and tool calls'),
      make('ol', { class: 'ss-list ss-words' }, view.words.map((one) => make('li', {
        class: one.sut ? 'ss-sut' : null },
        timeButton(one.t, jump, one.who), ' ', words(one.who, { class: 'ss-strong' }), ' ',
        make('span', { class: 'ss-note' }, SAID[one.kind] || one.kind,
             one.sut ? ' (the controller that is judged)' : ''),
        make('div', { class: one.kind.startsWith('tool') || one.kind.startsWith('call')
                        ? 'ss-said ss-code' : 'ss-said', dir: 'auto' }, one.text)))),
      view.words_left_out ? make('p', { class: 'ss-note' },
        `${view.words_left_out} more entries are in the record.`) : null);
  }

  function factsPart(view) {
    const drawn = Object.entries(view.drawn);
    const thinned = view.commands.filter((one) => one.t.length < one.of);
    const notes = [...view.notes];
    if (thinned.length) {
      notes.push('Drawn with fewer points, of every stretch its lowest and highest: ' + thinned.map(
        (one) => `${one.name} (${one.t.length} of ${one.of})`).join(', ') + '.');
    }
    const truth = view.truth;
    if (truth) {
      notes.push(`Poses: ${truth.source}; ${truth.t.length} of ${truth.of} moments are drawn` +
                 (truth.predicted ? '. No world told them: the gaps are no measurement.' : '.'));
      if (truth.bodies_left_out) notes.push(`${truth.bodies_left_out} bodies farther away are left out.`);
    }
    if (view.commands_left_out) notes.push(`${view.commands_left_out} more signals are in the record.`);
    return make('section', { class: 'ss-part' },
      make('h3', {}, 'Figures and notes'),
      make('table', { class: 'ss-facts' }, make('tbody', {},
        [['trial', view.id], ['controller', view.controller], ['seed', view.seed],
         ...view.facts, ...drawn.map(([name, value]) => ['drawn: ' + name, value])].map(
          ([name, value]) => make('tr', {}, make('th', { scope: 'row' }, words(String(name))),
                                  make('td', {}, words(String(value))))))),
      make('ul', { class: 'ss-list' }, notes.map((text) => make('li', {}, words(text)))));
  }

  function filmPart(view) {
    if (!view.film || /^\s*(javascript|data|vbscript):/i.test(view.film)) return null;
    const isFilm = /\.mp4$/i.test(view.film);
    const label = `Film of ${view.id}`;
    return make('section', { class: 'ss-part' }, make('h3', {}, 'Film'),
      isFilm ? make('video', { src: view.film, controls: true, preload: 'none', 'aria-label': label })
             : make('img', { src: view.film, alt: label, loading: 'lazy' }),
      make('p', {}, make('a', { href: view.film }, words(view.film))));
  }

  // ---------------------------------------------------------------- the whole

  /**
   * Show one trial in an element, in place of what is in it.
   *
   * Returns an object with show(t), which moves everything to a time in ms, and end(), which lets
   * go of what was listened to.
   */
  function showTrial(view, element) {
    const id = 'ss-trial-' + (++shown);
    let parts = [];
    let now = null;
    const stopping = new AbortController();
    const calm = window.matchMedia('(prefers-reduced-motion: reduce)');
    let playing = null;
    let controls = null;

    const status = make('output', { class: 'ss-moment-text', for: id, 'aria-live': 'off' });
    const slider = make('input', {
      type: 'range', id, class: 'ss-slider', step: 10,
      input: () => { stop(); show(Number(slider.value)); } });
    let whole = false;
    const wholeButton = make('button', { type: 'button', 'aria-pressed': 'false',
                                         click: () => showWhole(!whole) }, 'whole trial');
    const hasMore = view.window[0] > view.begin || view.window[1] < view.end;
    const play = make('button', { type: 'button', class: 'ss-play', click: toggle }, 'Play');

    function show(t) {
      now = t;
      slider.value = String(t);
      const text = momentText(view, t);
      slider.setAttribute('aria-valuetext', text);
      status.textContent = text;
      for (const part of parts) part.move(t);
    }

    /** Show all of the trial, or the part in which it happens. */
    function showWhole(all) {
      whole = all;
      wholeButton.setAttribute('aria-pressed', String(all));
      drawAll();
    }

    function jump(t) {
      stop();
      if (!whole && (t < Number(slider.min) || t > Number(slider.max))) showWhole(true);
      show(Math.max(Number(slider.min), Math.min(t, Number(slider.max))));
      controls.scrollIntoView({ behavior: calm.matches ? 'auto' : 'smooth', block: 'nearest' });
      slider.focus({ preventScroll: true });
    }

    function stop() {
      if (playing !== null) cancelAnimationFrame(playing.frame);
      playing = null;
      play.textContent = 'Play';
    }

    function toggle() {
      if (playing !== null) { stop(); return; }
      const max = Number(slider.max);
      if (now >= max) show(Number(slider.min));
      playing = { began: performance.now(), from: now, frame: 0 };
      play.textContent = 'Pause';
      const next = (at) => {
        if (playing === null || !element.isConnected) { playing = null; return; }
        const t = playing.from + (at - playing.began);
        if (t >= max) { show(max); stop(); return; }
        show(t);
        playing.frame = requestAnimationFrame(next);
      };
      playing.frame = requestAnimationFrame(next);
    }

    const timelineHolder = make('div', { class: 'ss-holder' });
    const aboveHolder = make('div', { class: 'ss-holder' });
    const latencyHolder = make('div', {});
    const named = [...new Map([
      ...(view.phases.some((one) => one.begin === 0) ? [['onset', 0]] : []),
      ...view.moments.filter((one) => ['reaction', 'stands', 'least gap', 'touch', 'confirmed'].includes(
        one.what)).map((one) => [one.what, one.t])])];

    const root = make('div', { class: 'ss-trial' },
      make('header', { class: 'ss-head' },
        make('h3', {}, badge(view.verdict), ' ', words(view.name), ' ',
             make('span', { class: 'ss-note' }, words(view.scenario), view.warmup
               ? `, warm-up ${-view.index}` : `, trial ${view.number}`)),
        make('p', { class: 'ss-reason' }, words(view.reason)),
        view.benign ? make('p', { class: 'ss-note' },
          'A harmless event: the right behaviour is restraint.') : null,
        view.truth && view.truth.predicted ? make('p', { class: 'ss-note' },
          'No world told where anything was: paths and gaps are reckoned from the commands.') : null),
      latencyHolder,
      make('section', { class: 'ss-part' },
        make('h3', {}, 'Timeline'),
        controls = make('div', { class: 'ss-controls' },
          make('label', { for: id }, `Time after ${view.zero}`), slider,
          make('div', { class: 'ss-buttons' }, play, named.map(([name, t]) => make('button', {
            type: 'button', click: () => jump(t) }, name)), hasMore ? wholeButton : null),
          status),
        timelineHolder,
        view.truth ? make('h3', {}, 'Seen from above') : null,
        view.truth ? aboveHolder : make('p', { class: 'ss-note' }, view.truth_why),
        view.truth ? legend(view) : null),
      findingsPart(view, jump), momentsPart(view, jump), wordsPart(view, jump), filmPart(view),
      factsPart(view));
    element.replaceChildren(root);

    /** Draw for the width there is; letters keep their size on a phone. */
    function drawAll() {
      const width = Math.max(280, Math.min(1100, Math.round(timelineHolder.clientWidth || 720)));
      const range = whole || view.window[1] <= view.window[0] ? [view.begin, Math.max(view.end,
        view.begin + 1)] : view.window;
      const lanes = timeline(view, width, range);
      parts = [lanes];
      timelineHolder.replaceChildren(lanes.picture);
      latencyHolder.replaceChildren(...[latencyPart(view, width)].filter(Boolean));
      if (view.truth) {
        const above = fromAbove(view, width, range);
        parts.push(above);
        aboveHolder.replaceChildren(above.picture);
      }
      slider.min = String(Math.round(lanes.from));
      slider.max = String(Math.round(lanes.to));
      lanes.picture.addEventListener('click', (event) => {
        const box = lanes.picture.getBoundingClientRect();
        stop();
        show(Math.round(lanes.timeAt((event.clientX - box.left) / box.width)));
      });
      show(now === null ? startOf(view, lanes) : Math.max(lanes.from, Math.min(now, lanes.to)));
      return width;
    }

    let drawn = drawAll();
    const watch = new ResizeObserver(() => {
      const width = Math.max(280, Math.min(1100, Math.round(timelineHolder.clientWidth || 720)));
      if (!element.isConnected) end();
      else if (timelineHolder.clientWidth && Math.abs(width - drawn) > 4) drawn = drawAll();
    });
    watch.observe(timelineHolder);
    let before = null;
    window.addEventListener('beforeprint', () => {
      stop();
      before = now;
      show(Number(slider.max));
    }, { signal: stopping.signal });
    window.addEventListener('afterprint', () => { if (before !== null) show(before); },
                            { signal: stopping.signal });

    function end() {
      stop();
      watch.disconnect();
      stopping.abort();
    }
    return { show: jump, end };
  }

  /** Begin where it matters: at the least gap, or else the reaction, or else the onset. */
  function startOf(view, lanes) {
    const worst = view.findings.find((one) => one.verdict === 'FAIL' && one.at !== null);
    const least = view.moments.find((one) => one.what === 'least gap');
    const reaction = view.moments.find((one) => one.what === 'reaction');
    const t = worst ? worst.at : least ? least.t : reaction ? reaction.t : 0;
    return Math.max(lanes.from, Math.min(t, lanes.to));
  }

  function legend(view) {
    const names = { person: 'person', thing: 'thing', robot: 'other robot' };
    const kinds = new Map(view.truth.bodies.map(
      (body) => [body.label || names[body.kind] || body.kind, body.kind]));
    return make('ul', { class: 'ss-legend' },
      make('li', {}, make('span', { class: 'ss-key ss-key-robot' }), 'robot under test'),
      [...kinds].map(([name, kind]) => make('li', {},
        make('span', { class: 'ss-key ss-key-' + look(kind) }), name)),
      view.truth.required.some((value) => value !== null) ? make('li', {},
        make('span', { class: 'ss-key ss-key-required' }),
        'S_p, the protective separation distance') : null);
  }

  space.showTrial = showTrial;
  space.drawing = { make, draw, words, seconds, figure, ticks, badge, cut };
})(globalThis.SafetyScenarios = globalThis.SafetyScenarios || {});
