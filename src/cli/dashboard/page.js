'use strict';
// Everything that comes from servers gets on the page as text, by textContent and title, and never as HTML.
const $ = id => document.getElementById(id);

function make(tag, classes, text) {
  const e = document.createElement(tag);
  if (classes) e.className = classes;
  if (text !== undefined) e.textContent = text;
  return e;
}

// Characters that are not seen, or that turn the direction of what stands beside them, are written out.
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
function shown(text) {
  const plain = String(text).replace(unseen, c => '\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
  return plain === '' || plain !== plain.trim() ? '"' + plain + '"' : plain;
}

function two(n) { return String(n).padStart(2, '0'); }
function clock(ms) { const d = new Date(ms); return two(d.getHours()) + ':' + two(d.getMinutes()) + ':' + two(d.getSeconds()); }
function span_of_time(ms) {
  if (ms < 1000) return Math.max(0, Math.round(ms)) + ' ms';
  if (ms < 60000) return (ms / 1000).toFixed(1) + ' s';
  const s = Math.floor(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
  if (d > 0) return d + ' d ' + (h % 24) + ' h';
  if (h > 0) return h + ' h ' + (m % 60) + ' min';
  return m + ' min ' + (s % 60) + ' s';
}
function micros(us) { return us < 1000 ? us + ' µs' : us < 1e6 ? (us / 1000).toFixed(1) + ' ms' : (us / 1e6).toFixed(2) + ' s'; }

const state_words = {admitted: 'votes', down: 'down', quarantined: 'quarantined', uninitialized: 'not admitted', not_primary: 'replica',
                     unidentified: 'unidentified', unknown: 'asking'};
const state_levels = {admitted: 'good', down: 'danger', not_primary: 'danger', unknown: 'unknown'};
const level_of = state => state_levels[state] || 'warning';

// One holder has one colour wherever it stands, and so do the processes with one label.
// The first eight differ.
const colours = new Map();
function colour(who) {
  if (colours.size > 1000) colours.clear();
  if (!colours.has(who)) colours.set(who, colours.size % 8);
  return 'var(--h' + colours.get(who) + ')';
}

const svg_ns = 'http://www.w3.org/2000/svg';
function median(numbers) { return numbers.sort((a, b) => a - b)[numbers.length >> 1]; }

function sparkline(points, until, window_ms) {
  const svg = document.createElementNS(svg_ns, 'svg');
  svg.setAttribute('viewBox', '0 0 100 30');
  svg.setAttribute('preserveAspectRatio', 'none');
  const recent = points.filter(p => p[0] >= until - window_ms);
  if (recent.length < 2) return svg;
  const most = Math.max(...recent.map(p => p[1]), 1);
  svg.setAttribute('role', 'img');
  const title = document.createElementNS(svg_ns, 'title');
  title.textContent = 'round trips of the last two minutes, at most ' + micros(most);
  svg.append(title);
  const at = p => ((p[0] - until + window_ms) / window_ms * 100).toFixed(2) + ' ' + (29 - p[1] / most * 27).toFixed(2);
  const line = 'M' + recent.map(at).join('L');
  const area = document.createElementNS(svg_ns, 'path');
  area.setAttribute('class', 'area');
  area.setAttribute('d', line + 'L100 30L' + at(recent[0]).split(' ')[0] + ' 30Z');
  const path = document.createElementNS(svg_ns, 'path');
  path.setAttribute('d', line);
  svg.append(area, path);
  return svg;
}

function facts(pairs) {
  const list = make('dl');
  for (const [name, value, title] of pairs) {
    if (value === null) continue;
    const dd = make('dd', '', value);
    if (title) dd.title = title;
    list.append(make('dt', '', name), dd);
  }
  return list;
}

function clock_text(n) {
  if (n.clock_ahead_us === null) return null;
  const off = Math.abs(n.clock_ahead_us);
  if (off <= n.clock_uncertain_us) return '0 ± ' + micros(n.clock_uncertain_us);
  return micros(off) + (n.clock_ahead_us > 0 ? ' ahead' : ' behind');
}

function draw_nodes(data) {
  const all = data.nodes.map((n, i) => {
    const card = make('article', 'node ' + n.level);
    const head = make('div', 'head');
    head.append(make('span', 'name', shown(n.node)), make('span', 'pill', state_words[n.state] || n.state));
    card.append(head);
    if (n.state !== 'admitted' && n.text) {
      card.append(make('p', 'why', shown(n.text)));
      card.lastElementChild.title = shown(n.text);
    }
    const trips = data.timeline.nodes[i].round_trips_us;
    card.append(facts([
      ['round trip', n.round_trip_us === null ? null : micros(median(trips.slice(-9).map(p => p[1]))), 'the median of the last nine'],
      ['clock', clock_text(n), 'compared with this machine\u2019s'],
      [n.server, n.version === null ? null : shown(n.version)],
      ['up for', n.up_for_s === null ? null : span_of_time(n.up_for_s * 1000)],
      [state_words[n.state] + ' for', n.since === null || n.state === 'admitted' ? null : span_of_time(data.time - n.since)],
    ]));
    if (n.state !== 'down') card.append(sparkline(trips, data.time, 120000));
    return card;
  });
  $('nodes').replaceChildren(...all);
  $('nodes-note').textContent = data.nodes.length === 1 ? 'Whoever has a lock\u2019s key on this node holds the lock.' :
    'Whoever has a lock\u2019s key on ' + data.majority + ' of these ' + data.nodes.length + ' nodes holds the lock.';
}

let window_ms = 60000;
function draw_windows(data) {
  const whole = data.timeline.window_ms;
  const choices = [60000, 300000].filter(w => w < whole).concat(whole);
  if (!choices.includes(window_ms)) window_ms = choices[0];
  $('windows').replaceChildren(...choices.map(w => {
    const b = make('button', '', w / 60000 + ' min');
    b.type = 'button';
    b.setAttribute('aria-pressed', String(w === window_ms));
    b.addEventListener('click', () => { window_ms = w; draw(last); });
    return b;
  }));
}

function axis(until) {
  const row = make('div', 'lane axis'), track = make('div', 'track');
  const step = [5000, 10000, 30000, 60000, 120000, 300000, 600000].find(s => window_ms / s <= (innerWidth < 640 ? 4 : 8)) || 600000;
  const zone = new Date(until).getTimezoneOffset() * 60000;
  for (let t = Math.ceil((until - window_ms - zone) / step) * step + zone; t < until - step / 3; t += step) {
    const left = (t - until + window_ms) / window_ms * 100;
    if (left < 3 || left > 93) continue;
    const mark = make('span', '', clock(t));
    mark.style.left = left + '%';
    track.append(mark);
  }
  const now = make('span', '', 'now');
  now.style.left = '100%';
  track.append(now);
  row.append(make('span', 'label'), track);
  return row;
}

const bars_max = 300;  // of a lane
const text_min = 44;  // pixels: a bar that is narrower shows no text
function lane(name, spans, until, is_now, dress) {
  const row = make('div', 'lane' + (is_now ? ' now' : '')), track = make('div', 'track');
  const label = make('span', 'label name', shown(name));
  label.title = shown(name);
  const from = until - window_ms;
  for (const [i, s] of spans.slice(-bars_max).entries()) {
    if (s.to < from) continue;
    const goes_on = is_now && i === Math.min(spans.length, bars_max) - 1;
    const left = Math.max(0, (s.from - from) / window_ms), right = goes_on ? 1 : Math.min(1, (s.to - from) / window_ms);
    const width = Math.max(0, right - left);
    const bar = make('div', 'bar' + (width * track_width < text_min ? ' thin' : ''));
    bar.style.left = left * 100 + '%';
    bar.style.width = width * 100 + '%';
    dress(bar, s);
    bar.title += '\n' + clock(s.from) + (goes_on ? ' until now' : ' to ' + clock(s.to)) + ', ' + span_of_time((goes_on ? until : s.to) - s.from);
    track.append(bar);
  }
  row.append(label, track);
  return row;
}

function dress_node(bar, s) {
  bar.classList.add('state', level_of(s.state));
  bar.textContent = state_words[s.state] || s.state;
  bar.title = bar.textContent + (s.holder ? ': ' + shown(s.holder) : '');
}

function dress_lock(bar, s) {
  if (s.state === 'held') {
    bar.style.backgroundColor = colour(s.shared ? 'readers' : s.label || s.holder);
    if (s.shared) bar.classList.add('shared');
    bar.textContent = shown(s.label || s.holder);
    bar.title = 'held by ' + shown(s.holder) + (s.token ? ', token ' + s.token : '');
  } else {
    bar.classList.add(s.state);
    bar.textContent = s.state === 'partly' ? 'no majority' : 'unknown';
    bar.title = s.state === 'partly' ? 'on fewer nodes than a majority: an attempt, or what is left of one' : 'too few nodes answered';
  }
}

// What the colours mean, and what stands for more than a holder. Of bars that are too narrow for words, this is the only text.
const legend_max = 16;
function draw_legend(locks, from) {
  const seen = new Map(), entry = (classes, fill, text) => {
    const e = make('span', 'entry'), swatch = make('i', classes);
    if (fill) swatch.style.backgroundColor = fill;
    e.append(swatch, document.createTextNode(text));
    return e;
  };
  for (const s of locks.flatMap(l => l.spans)) {
    if (s.to < from) continue;
    if (s.state !== 'held') seen.set(s.state, entry('bar ' + s.state, '', s.state === 'partly' ? 'on too few nodes to be held' : 'too few nodes answered'));
    else if (s.shared) seen.set('readers', entry('bar shared', colour('readers'), 'readers, together'));
    else seen.set('held ' + (s.label || s.holder), entry('', colour(s.label || s.holder), shown(s.label || s.holder)));
  }
  const all = [...seen.values()];
  if (all.length > legend_max) all.splice(legend_max, all.length, make('span', '', 'and ' + (all.length - legend_max) + ' more'));
  $('legend').replaceChildren(...all);
}

let track_width = 600;
function draw_timeline(data) {
  track_width = ($('timeline').querySelector('.track') || $('timeline')).clientWidth;
  const until = data.time, t = data.timeline;
  const rows = [axis(until), make('div', 'group', 'nodes')];
  for (const n of t.nodes) rows.push(lane(n.node, n.spans, until, true, dress_node));
  const recent = t.locks.filter(l => l.held_now || l.spans[l.spans.length - 1].to >= until - window_ms);
  const most = 40;
  if (recent.length > 0) rows.push(make('div', 'group', 'locks, and who held them'));
  recent.sort((a, b) => b.held_now - a.held_now || b.spans[b.spans.length - 1].to - a.spans[a.spans.length - 1].to);
  const kept = recent.slice(0, most).sort((a, b) => a.name < b.name ? -1 : 1);
  for (const l of kept) rows.push(lane(l.name, l.spans, until, l.held_now, dress_lock));
  $('timeline').replaceChildren(...rows);
  draw_legend(kept, until - window_ms);
  const more = recent.length - kept.length;
  $('timeline-note').textContent = (more > 0 ? more + ' more locks were held meanwhile. ' : '') +
    'The nodes are looked at every ' + span_of_time(data.interval_ms) + '; a turn that is shorter may be missing.';
}

function dots(lock) {
  const cell = make('span', 'dots');
  for (const on of lock.on) {
    const same = on.holder && lock.holder && (on.holder.id === lock.holder.id || (on.holder.readers && lock.holder.readers));
    const dot = make('i', on.problem ? 'silent' : !on.holder ? '' : same ? 'has' : 'other');
    dot.title = shown(on.node) + ': ' + (on.problem ? 'no answer' : !on.holder ? 'no key' : same ? 'has the key' : 'has the key of somebody else');
    cell.append(dot);
  }
  return cell;
}

function holder_cell(lock) {
  const cell = make('td', 'holder');
  cell.dataset.label = 'holder';
  const inner = make('span'), h = lock.holder;
  if (!h) {
    inner.textContent = lock.state === 'unknown' ? 'unknown: too few nodes answer' : 'nobody: no majority';
  } else {
    const swatch = make('i');
    const who = h.readers ? h.readers + (h.readers === 1 ? ' reader' : ' readers')
              : h.foreign ? 'somebody else\u2019s value' : h.host + ' ' + h.pid + (h.label ? ' ' + h.label : '');
    swatch.style.backgroundColor = colour(h.readers ? 'readers' : h.label || who);
    inner.append(swatch, document.createTextNode(shown(who) + (!lock.writer_waits ? '' : h.readers ? '; a writer waits' : '; somebody waits')));
  }
  cell.append(inner);
  return cell;
}

function table_row(name, holder, nodes, values) {
  const row = make('tr'), first = make('td', 'first');
  first.append(make('span', 'name', name));
  nodes.dataset.label = 'nodes';
  row.append(first, holder, nodes);
  for (const [label, value] of values) {
    const cell = make('td', '', value);
    cell.dataset.label = label;
    row.append(cell);
  }
  return row;
}

function ends_in(l) { return l.ttl_ms === null ? '\u2013' : span_of_time(l.ttl_ms); }

function lock_row(l, data, called) {
  const nodes = make('td'), inner = make('span');
  inner.append(dots(l), document.createTextNode(l.held_on + ' of ' + l.nodes));
  nodes.append(inner);
  const since = l.holder && l.holder.since ? span_of_time(data.time - l.holder.since * 1000) : '\u2013';
  const row = table_row(called || shown(l.name), holder_cell(l), nodes, [['held for', since], ['ends in', ends_in(l)], ['token', l.token ?? '\u2013']]);
  if (called) row.className = 'slot';
  return row;
}

// The rows of its slots follow. A change of the number waits for those above it.
function semaphore_row(l) {
  const s = l.semaphore, holder = make('td', 'holder');
  holder.dataset.label = 'holder';
  holder.append(make('span', '', s.held + (s.permits === null ? ' permits' : ' of ' + s.permits + (s.permits === 1 ? ' permit' : ' permits')) +
    (s.held_above > 0 ? ', ' + s.held_above + ' above that number' : '')));
  return table_row(shown(l.name), holder, make('td', '', '\u2013'), [['held for', '\u2013'], ['ends in', ends_in(l)], ['token', '\u2013']]);
}

function draw_locks(data) {
  const list = data.locks ? data.locks.locks : [];
  const held = list.filter(l => l.state === 'held').length;
  $('count').textContent = data.locks ? held + (held === 1 ? ' lock' : ' locks') : '';
  if (list.length === 0) {
    $('locks').replaceChildren(make('p', 'empty', data.locks ? 'No lock is held.' : 'The nodes are being searched.'));
  } else {
    const table = make('table'), head = make('thead'), body = make('tbody'), names = make('tr');
    for (const n of ['lock', 'holder', 'nodes', 'held for', 'ends in', 'token']) names.append(make('th', '', n));
    head.append(names);
    for (const l of list) {
      body.append(l.semaphore ? semaphore_row(l) : lock_row(l, data));
      if (l.semaphore) body.append(...l.semaphore.slots.map(slot => lock_row(slot, data, 'slot ' + slot.slot)));
    }
    table.append(head, body);
    $('locks').replaceChildren(table);
  }
  const notes = list.length === 0 ? [] : ['A dot is a node; a filled one has the key. A lock ends when its time is over, unless its holder extends it.'];
  if (data.locks && data.locks.search !== 'complete') notes.push('There are more locks than are shown.');
  if (data.locks && !data.locks.known) notes.push('Too few nodes answer to know of each lock.');
  if (data.locks && data.locks.foreign_keys) notes.push(data.locks.foreign_keys + ' other keys on these servers are no locks of this library.');
  $('locks-note').textContent = notes.join(' ');
}

function draw_events(data) {
  const all = data.events.slice().reverse().map(e => {
    const li = make('li', e.level);
    li.append(make('time', '', clock(e.at)), make('span', 'name', e.node === null ? 'all nodes' : shown(e.node)), make('span', 'what', shown(e.text)));
    return li;
  });
  $('events').replaceChildren(...(all.length ? all : [make('li', 'good', 'Nothing so far.')]));
}

const marks = {good: '✓', warning: '!', danger: '✕', wait: '…'};
let last = null;
function draw(data) {
  last = data;
  const verdict = $('verdict');
  verdict.className = 'verdict ' + data.verdict.level;
  verdict.firstElementChild.textContent = marks[data.verdict.level];
  if (verdict.lastElementChild.textContent !== data.verdict.text) verdict.lastElementChild.textContent = data.verdict.text;
  document.title = (data.verdict.level === 'good' ? '' : marks[data.verdict.level] + ' ') + 'redlock';
  draw_nodes(data);
  draw_windows(data);
  draw_timeline(data);
  draw_locks(data);
  draw_events(data);
}

async function look() {
  let pause = 1000;
  try {
    const answer = await fetch('/api/status.json', {cache: 'no-store', signal: AbortSignal.timeout(5000)});
    if (!answer.ok) throw new Error(answer.status);
    const data = await answer.json();
    pause = Math.max(200, data.interval_ms);
    draw(data);
    document.body.classList.remove('late');
    document.body.dataset.drawn = 'true';
    $('updated').className = 'live';
    $('updated').lastElementChild.textContent = clock(data.time);
  } catch (problem) {
    document.body.classList.add('late');
    $('updated').className = 'late';
    $('updated').lastElementChild.textContent = 'no answer' + (last ? ' since ' + clock(last.time) : '');
  }
  setTimeout(() => document.hidden ? document.addEventListener('visibilitychange', look, {once: true}) : look(), pause);
}
look();
