'use strict';
window.SafetyScenarios = window.SafetyScenarios || {};
/* Everything that others wrote gets into the page by textContent: it can be nothing but text. */
(function (S) {
  const CELLS = ['id', 'scenario', 'index', 'warmup', 'verdict', 'reason', 'ms', 'class', 'measured', 'marginText', 'margin', 'seed', 'place', 'scores'];
  const RANK = {FAIL: 3, ERROR: 2, INCONCLUSIVE: 1, PASS: 0};
  const FIRST = 100, MORE = 400, PRINTED = 300, LOAD_MS = 15000;
  const SVG = 'http://www.w3.org/2000/svg';
  const byId = (id) => document.getElementById(id);
  let data = null, trials = [], found = [], shown = FIRST, chosen = null, sortBy = null, down = true;
  const blocks = new Map(), waiting = new Map();

  /** Return a text that was gzipped and written in base64. */
  S.unpack = async function (text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).text();
  };

  /** Return Plotly, which is unpacked when it is asked for the first time. */
  S.plotly = function () {
    S.plotlyIsHere = S.plotlyIsHere || S.unpack(byId('plotly').textContent).then((program) => {
      const script = document.createElement('script');
      script.textContent = program;
      document.head.append(script);
      return window.Plotly;
    });
    return S.plotlyIsHere;
  };

  /** Called by the files beside the page, which a page from a disk may load but not fetch. */
  S.loaded = function (number, text) {
    const tell = waiting.get(number);
    if (tell) tell(S.unpack(text).then(JSON.parse));
  };

  /** Return an element with a class and a text. */
  S.made = function (name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined && text !== null) element.textContent = text;
    return element;
  };

  function block(number) {
    if (!blocks.has(number)) {
      const here = number >= 0 ? document.querySelector('script[data-block="' + number + '"]') : null;
      blocks.set(number, here ? S.unpack(here.textContent).then(JSON.parse) : fromBeside(-1 - number));
      blocks.get(number).catch(() => blocks.delete(number));
    }
    return blocks.get(number);
  }

  function fromBeside(number) {
    const name = data.beside + '/' + number + '.js';
    return new Promise((resolve, reject) => {
      const script = document.createElement('script');
      const failed = () => reject(new Error('cannot load ' + name + '. Keep the folder ' + data.beside + ' beside this page'));
      waiting.set(number, resolve);
      script.onerror = failed;
      script.src = data.beside.split('/').map(encodeURIComponent).join('/') + '/' + number + '.js';
      setTimeout(failed, LOAD_MS);
      document.head.append(script);
    });
  }

  function read(campaign, number) {
    return campaign.trials.map((cells) => {
      const trial = {of: number};
      CELLS.forEach((name, at) => { trial[name] = cells[at]; });
      const scenario = campaign.scenarios[trial.scenario];
      trial.scenarioId = scenario.id;
      trial.name = scenario.name;
      trial.why = campaign.reasons[trial.reason];
      trial.words = [trial.id, trial.name, trial.scenarioId, trial.why, data.campaigns.length > 1 ? campaign.name : ''].join('\n').toLowerCase();
      return trial;
    });
  }

  /* ---- the list ---- */

  const COLUMNS = [
    ['campaign', (t) => data.campaigns[t.of].name, (t) => t.of],
    ['verdict', (t) => t.verdict, (t) => RANK[t.verdict]],
    ['scenario', (t) => t.name, (t) => t.name],
    ['trial', (t) => t.warmup ? 'warm-up ' + -t.index : String(t.index + 1), (t) => t.index],
    ['latency ms', (t) => t.ms === null ? (t.class === null ? '–' : 'none') : t.ms.toFixed(1), (t) => t.ms === null ? (t.class === null ? -1 : Infinity) : t.ms],
    ['class', (t) => t.class || '–', (t) => t.class || ''],
    ['margin', (t) => t.marginText || '–', (t) => t.margin === null ? Infinity : t.margin],
    ['why', (t) => t.why, (t) => t.why]];

  function heads() {
    const row = byId('list').tHead.rows[0];
    COLUMNS.forEach((column, at) => {
      const head = S.made('th'), button = S.made('button', '', column[0]);
      head.scope = 'col';
      head.hidden = at === 0 && data.campaigns.length < 2;
      button.type = 'button';
      button.addEventListener('click', () => {
        down = sortBy === at ? !down : false;
        sortBy = at;
        filter();
      });
      head.append(button);
      row.append(head);
    });
  }

  function compare(one, two) {
    if (sortBy === null) {
      return RANK[two.verdict] - RANK[one.verdict] || (one.margin ?? Infinity) - (two.margin ?? Infinity) || 0;
    }
    const a = COLUMNS[sortBy][2](one), b = COLUMNS[sortBy][2](two);
    const order = a < b ? -1 : a > b ? 1 : 0;
    return down ? -order : order;
  }

  function filter() {
    const form = new FormData(byId('filters'));
    const verdicts = new Set(form.getAll('verdict'));
    const scenario = byId('of-scenario').value, name = byId('of-class').value;
    const words = byId('words').value.toLowerCase().split(/\s+/).filter(Boolean);
    found = trials.filter((t) => verdicts.has(t.verdict) && (!scenario || t.scenarioId === scenario) &&
      (!name || t.class === name) && words.every((word) => t.words.includes(word)));
    found.sort(compare);
    shown = FIRST;
    list();
  }

  function list() {
    const body = byId('list').tBodies[0], some = found.slice(0, shown);
    body.replaceChildren(...some.map(rowOf));
    byId('found').textContent = found.length + ' of ' + trials.length + ' trials' +
      (found.length > some.length ? ', the first ' + some.length + ' are shown' : '');
    byId('more').hidden = found.length <= some.length;
    Array.from(byId('list').tHead.rows[0].cells).forEach((cell, at) => {
      if (at === sortBy) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
    steps();
  }

  function linkTo(trial) {
    return '#trial=' + encodeURIComponent(trial.id) + (trial.of ? '&of=' + trial.of : '');
  }

  function rowOf(trial) {
    const row = S.made('tr', trial === chosen ? 'chosen' : '');
    COLUMNS.forEach((column, at) => {
      const cell = S.made(at === 2 ? 'th' : 'td', at === 7 ? 'why' : at > 2 && at !== 5 ? 'num' : '');
      if (at === 0) cell.hidden = data.campaigns.length < 2;
      if (at === 2) {
        cell.scope = 'row';
        const link = S.made('a');
        link.href = linkTo(trial);
        link.append(S.made('bdi', '', trial.name));
        cell.append(link);
      } else if (at === 1) {
        cell.append(badge(trial.verdict));
      } else if (at === 5 && trial.class) {
        cell.append(S.made('span', 'class c-' + trial.class, trial.class));
      } else {
        cell.append(S.made('bdi', '', column[1](trial)));
      }
      row.append(cell);
    });
    row.addEventListener('click', (event) => {  // by keyboard: the link
      if (!event.target.closest('a') && !String(getSelection())) location.hash = linkTo(trial);
    });
    return row;
  }

  function badge(verdict) {
    return S.made('span', 'badge v-' + String(verdict).toLowerCase(), verdict);
  }

  function choices() {
    const select = byId('of-scenario'), names = new Map();
    trials.forEach((t) => names.set(t.scenarioId, t.name));
    names.forEach((name, id) => {
      const option = S.made('option', '', name + ' (' + id + ')');
      option.value = id;
      select.append(option);
    });
    document.querySelectorAll('[data-count]').forEach((place) => {
      place.textContent = trials.filter((t) => t.verdict === place.dataset.count).length;
    });
  }

  /* ---- one trial ---- */

  function asked() {
    const hash = location.hash.slice(1);
    if (!hash.startsWith('trial=')) return null;
    const wanted = new URLSearchParams(hash.replace(/\+/g, '%2B'));
    const of = Number(wanted.get('of') || 0);
    return {id: wanted.get('trial'), of: of, trial: trials.find((t) => t.of === of && t.id === wanted.get('trial'))};
  }

  async function follow() {
    const wanted = asked();
    if (wanted === null) return;
    if (!wanted.trial) {
      byId('trial').hidden = false;
      byId('trial-name').textContent = 'This report has no trial ' + wanted.id;
      ['trial-why', 'trial-facts', 'trial-view'].forEach((id) => byId(id).replaceChildren());
      return reveal();
    }
    chosen = wanted.trial;
    byId('trial').hidden = false;
    byId('trial-name').replaceChildren(badge(chosen.verdict), ' ', S.made('bdi', '', chosen.name), ', ' + COLUMNS[3][1](chosen).replace(/^(\d)/, 'trial $1'));
    byId('trial-why').replaceChildren(S.made('bdi', '', chosen.why));
    facts(chosen);
    list();
    reveal();
    await view(chosen);
  }

  function reveal() {
    byId('trial').scrollIntoView({block: 'start'});
    byId('trial-name').focus({preventScroll: true});
  }

  function facts(trial) {
    const rows = [
      ['trial', trial.id], ['scenario', trial.scenarioId],
      ['latency', COLUMNS[4][1](trial) + (trial.ms === null ? '' : ' ms') + (trial.class ? ', ' + trial.class : '') +
        (trial.class && !trial.measured ? '; not measured well enough to be in any number' : '')],
      ['margin that tells most', trial.marginText || 'no check has a number'],
      ['seed', String(trial.seed)]];
    if (trial.scores) rows.push(['scores, beside the verdict', trial.scores]);
    if (data.campaigns.length > 1) rows.unshift(['campaign', data.campaigns[trial.of].name]);
    const found = S.made('dl', 'facts');
    rows.forEach(([name, text]) => {
      const row = S.made('div'), value = S.made('dd');
      value.append(S.made('bdi', '', text));
      row.append(S.made('dt', '', name), value);
      found.append(row);
    });
    const box = S.made('details'), title = S.made('summary', '', 'Facts of this trial');
    box.append(title, found);
    byId('trial-facts').replaceChildren(box);
  }

  async function view(trial) {
    const place = byId('trial-view');
    if (!trial.place) {
      place.replaceChildren(S.made('p', 'muted', 'Nothing was drawn of this trial.'));
      return;
    }
    place.replaceChildren(S.made('p', 'muted', 'Loading ...'));
    try {
      const seen = (await block(trial.place[0]))[trial.place[1]];
      if (trial !== chosen) return;
      place.replaceChildren();
      if (seen.error) place.append(S.made('p', 'remark', 'Nothing was drawn of this trial: ' + seen.error));
      else if (S.showTrial) S.showTrial(Object.assign({}, seen, {film: data.campaigns[trial.of].films[trial.id] || null}), place);
    } catch (error) {
      if (trial === chosen) place.replaceChildren(S.made('p', 'remark', 'This trial is not shown: ' + error.message));
    }
  }

  function steps() {
    const at = found.indexOf(chosen);
    byId('before').disabled = at < 1;
    byId('after').disabled = at < 0 || at + 1 >= found.length;
  }

  function step(by) {
    const next = found[found.indexOf(chosen) + by];
    if (next) location.hash = linkTo(next);
  }

  function close() {
    byId('trial').hidden = true;
    chosen = null;
    history.replaceState(null, '', '#trials');
    list();
    byId('trials').scrollIntoView({block: 'start'});
    byId('words').focus({preventScroll: true});
  }

  /* ---- latencies ---- */

  function drawn(name, attributes, parent) {
    const element = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (parent) parent.append(element);
    return element;
  }

  const WIDTH = 800, HEIGHT = 58, LOW = 40;

  function latencies() {
    const place = byId('latencies');
    data.campaigns.forEach((campaign, of) => {
      if (data.campaigns.length > 1) place.append(S.made('h3', '', campaign.name));
      campaign.scenarios.forEach((scenario, number) => {
        const mine = trials.filter((t) => t.of === of && t.scenario === number && t.measured && !t.warmup);
        if (mine.length) place.append(strip(scenario, mine));
      });
    });
    if (!place.childElementCount) place.append(S.made('p', 'muted', 'No latency was measured.'));
  }

  function strip(scenario, mine) {
    const budget = scenario.budget || {}, known = mine.filter((t) => t.ms !== null);
    const times = known.map((t) => t.ms).sort((a, b) => a - b);
    const most = Math.max(1, (budget.critical_ms || 0) * 1.25, (times[times.length - 1] || 0) * 1.06);
    const x = (ms) => Math.min(ms, most) / most * (WIDTH - 24);
    const silent = mine.length - known.length;
    const figure = S.made('figure', 'strip'), caption = S.made('figcaption');
    const said = mine.length + (mine.length === 1 ? ' trial' : ' trials') +
      (times.length ? ', ' + times[0].toFixed(1) + ' to ' + times[times.length - 1].toFixed(1) + ' ms' : '') +
      (silent ? ', no reaction in ' + silent : '');
    caption.append(S.made('bdi', '', scenario.name), S.made('small', '', said));
    const picture = drawn('svg', {viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, role: 'img', 'aria-label': scenario.name + ': ' + said + limitsOf(budget)});
    bands(picture, budget, x, most);
    if (known.length > 250) bars(picture, times, x, most);
    else known.forEach((t, at) => dot(picture, t, x(t.ms), 12 + (at * 7) % 17));
    mine.filter((t) => t.ms === null).slice(0, 40).forEach((t, at) => cross(picture, t, WIDTH - 12, 8 + at % 7 * 4));
    if (times.length) drawn('line', {x1: x(middle(times)), x2: x(middle(times)), y1: 2, y2: LOW, class: 'median'}, picture);
    figure.append(caption, picture);
    return figure;
  }

  function middle(times) {
    const half = times.length >> 1;
    return times.length % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
  }

  function limitsOf(budget) {
    return budget.critical_ms ? '; target up to ' + budget.target_ms + ', acceptable up to ' + budget.acceptable_ms + ', critical up to ' + budget.critical_ms + ' ms' : '';
  }

  function bands(picture, budget, x, most) {
    let from = 0, last = -99;
    [['target', budget.target_ms], ['acceptable', budget.acceptable_ms], ['critical', budget.critical_ms], ['violation', most]].forEach(([name, to]) => {
      if (to === undefined || to === null || !budget.critical_ms) return;
      drawn('rect', {x: x(from), y: 0, width: Math.max(0, x(to) - x(from)), height: LOW, class: 'band b-' + name}, picture);
      if (name !== 'violation' && x(to) - last > 34) {
        drawn('text', {x: x(to), y: HEIGHT - 4, 'text-anchor': 'middle', class: 'tick'}, picture).textContent = to;
        last = x(to);
      }
      from = to;
    });
    drawn('text', {x: x(most), y: HEIGHT - 4, 'text-anchor': 'end', class: 'tick'}, picture).textContent = x(most) - last > 60 ? most.toFixed(0) + ' ms' : 'ms';
  }

  function dot(picture, trial, cx, cy) {
    const made = drawn('circle', {cx: cx, cy: cy, r: 4.5, class: 'dot'}, picture);
    drawn('title', {}, made).textContent = trial.id + ': ' + trial.ms + ' ms';
    made.addEventListener('click', () => { location.hash = linkTo(trial); });
  }

  function cross(picture, trial, cx, cy) {
    const made = drawn('path', {d: 'M' + (cx - 4) + ' ' + (cy - 4) + 'l8 8m0 -8l-8 8', class: 'cross'}, picture);
    drawn('title', {}, made).textContent = trial.id + ': no reaction';
    made.addEventListener('click', () => { location.hash = linkTo(trial); });
  }

  function bars(picture, times, x, most) {
    const counts = new Array(80).fill(0);
    times.forEach((ms) => { counts[Math.min(79, Math.floor(ms / most * 80))] += 1; });
    const top = Math.max(...counts);
    counts.forEach((count, at) => {
      const high = (LOW - 4) * count / top;
      if (count) drawn('rect', {x: x(at * most / 80), width: Math.max(1, x(most / 80) - 1), y: LOW - high, height: high, class: 'dot'}, picture);
    });
  }

  /** Draw all latencies in one picture, in which one can look closer, and click a trial. */
  async function explore() {
    const Plotly = await S.plotly(), place = byId('explored'), colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const some = trials.filter((t) => t.measured && !t.warmup && t.ms !== null);
    const label = (t) => plain(t.name) + (data.campaigns.length > 1 ? ' (' + plain(data.campaigns[t.of].name) + ')' : '');
    const groups = Array.from(new Set(some.map(label)));
    place.hidden = false;
    await Plotly.newPlot(place, groups.map((name) => {
      const mine = some.filter((t) => label(t) === name);
      return {type: 'box', name: name, x: mine.map((t) => t.ms), text: mine.map((t) => plain(t.id)), ids: mine.map(linkTo), boxpoints: 'all', jitter: 0.5,
        pointpos: 0, hovertemplate: '%{text}<br>%{x:.1f} ms<extra></extra>', marker: {color: colour('--accent')}, orientation: 'h'};
    }), {showlegend: false, font: {color: colour('--fg')}, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', margin: {l: 20, r: 10, t: 10, b: 45},
      xaxis: {title: {text: 'latency (ms)'}, gridcolor: colour('--line'), rangemode: 'tozero'}, yaxis: {automargin: true}},
    {displaylogo: false, responsive: true, modeBarButtonsToRemove: ['toImage', 'sendDataToCloud', 'select2d', 'lasso2d']});
    place.removeAllListeners('plotly_click');
    place.on('plotly_click', (event) => { const id = event.points[0].data.ids[event.points[0].pointNumber]; if (id) location.hash = id; });
  }

  /** Plotly reads some tags and links in what it shows: a name is none of them. */
  function plain(text) {
    return text.replace(/[<>&]/g, (sign) => ({'<': '\u2039', '>': '\u203a', '&': '\uff06'})[sign]);
  }

  /* ---- the whole page ---- */

  function theme() {
    const root = document.documentElement, button = byId('theme');
    const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    const say = () => { button.setAttribute('aria-pressed', String(isDark())); };
    try { const kept = localStorage.getItem('theme'); if (kept === 'dark' || kept === 'light') root.dataset.theme = kept; } catch (error) { /* no storage, no memory */ }
    button.addEventListener('click', () => {
      root.dataset.theme = isDark() ? 'light' : 'dark';
      try { localStorage.setItem('theme', root.dataset.theme); } catch (error) { /* as above */ }
      say();
      document.dispatchEvent(new CustomEvent('themechange'));
    });
    say();
  }

  function printing() {
    let closed = [];
    addEventListener('beforeprint', () => {
      closed = Array.from(document.querySelectorAll('details:not([open])'));
      closed.forEach((one) => { one.open = true; });
      shown = Math.max(shown, PRINTED);
      list();
    });
    addEventListener('afterprint', () => {
      closed.forEach((one) => { one.open = false; });
      shown = FIRST;
      list();
    });
  }

  async function begin() {
    theme();
    data = JSON.parse(await S.unpack(byId('data').textContent));
    trials = data.campaigns.flatMap(read);
    heads();
    choices();
    filter();
    latencies();
    printing();
    byId('filters').addEventListener('input', filter);  // no 'change': it comes amid the click that follows, and would take its link away
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('filters').addEventListener('reset', () => setTimeout(() => { sortBy = null; filter(); }));
    byId('more').addEventListener('click', () => { shown += MORE; list(); });
    byId('before').addEventListener('click', () => step(-1));
    byId('after').addEventListener('click', () => step(1));
    byId('explore').addEventListener('click', explore);
    document.addEventListener('themechange', () => { if (!byId('explored').hidden) explore(); });
    byId('close').addEventListener('click', close);
    addEventListener('hashchange', follow);
    if (data.comparison && data.comparison.why) byId('comparison-here').append(S.made('p', 'remark', 'Not compared: ' + data.comparison.why));
    else if (data.comparison) {
      S.showComparison(data.comparison, byId('comparison-here'),
        {open: (id, of) => { location.hash = linkTo({id: id, of: of}); }});
    }
    if (data.varied.length) S.showVaried(data.varied, byId('varied-here'));
    document.documentElement.dataset.ready = 'yes';
    await follow();
  }

  addEventListener('DOMContentLoaded', begin);
})(window.SafetyScenarios);
