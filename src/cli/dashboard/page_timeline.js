// The last minutes: who held what, and how the nodes were.
let window_ms = 60000;
function draw_windows(data) {
  const whole = data.timeline.window_ms;
  const choices = [60000, 300000].filter(w => w < whole).concat(whole);
  if (!choices.includes(window_ms)) window_ms = choices[0];
  const begin = w => {
    const b = make('button', '', w / 60000 + ' min');
    b.type = 'button';
    b.addEventListener('click', () => { window_ms = w; redraw(); });
    return b;
  };
  draw_each($('windows'), choices, w => w, begin, (b, w) => put(b, 'aria-pressed', String(w === window_ms)));
}

function draw_axis(until) {
  const step = [5000, 10000, 30000, 60000, 120000, 300000, 600000].find(s => window_ms / s <= (innerWidth < 640 ? 4 : 8)) || 600000;
  const zone = new Date(until).getTimezoneOffset() * 60000, times = [];
  for (let t = Math.ceil((until - window_ms - zone) / step) * step + zone; t < until - step / 3; t += step) {
    const left = (t - until + window_ms) / window_ms * 100;
    if (left >= 3 && left <= 93) times.push([t, left, clock(t)]);
  }
  times.push([0, 100, 'now']);
  draw_each($('axis'), times, t => t[0], () => make('span', '', ''), (mark, [, left, text]) => {
    write(mark, text);
    put_style(mark, 'left', left.toFixed(3) + '%');
  });
}

function what_node(s) {
  const state = state_words[s.state] || s.state;
  return {classes: 'state ' + level_of(s.state), text: state, told: state + (s.holder ? ': ' + shown(s.holder) : '')};
}

function what_lock(s) {
  if (s.state === 'held')
    return {classes: s.shared ? 'shared' : '', fill: colour(s.shared ? 'readers' : s.label || s.holder), text: shown(s.label || s.holder),
            told: 'held by ' + shown(s.holder) + (s.token ? ', token ' + s.token : '')};
  if (s.state === 'partly') return {classes: 'partly', text: 'no majority', told: 'no majority: on fewer nodes than that, by an attempt, or what is left of one'};
  return {classes: 'unknown', text: 'unknown', told: 'unknown: too few nodes answered'};
}

const bars_max = 300;  // of a lane
const text_min = 44;  // pixels: a bar that is narrower shows no text
let track_width = 600;
// Bars stand on strips, at their time since `zero`, and only the strips move, so that a redraw has little to write.
let zero = 0;
function move_strips(until) {
  const from = until - window_ms;
  if (from < zero || from - zero > 3600000) zero = from;
  put_style($('timeline'), '--shift', (-100 * (from - zero) / window_ms).toFixed(3) + '%');
}

function begin_lane() {
  const row = make('div'), track = make('div', 'track');
  row.parts = {label: make('span', 'label name', ''), strip: make('div', 'strip')};
  track.append(row.parts.strip);
  row.append(row.parts.label, track);
  return row;
}

function begin_bar() {
  const bar = make('button', '', '');
  bar.type = 'button';
  bar.tabIndex = -1;
  return bar;
}

function dress_lane(row, name, spans, until, is_now, what_of) {
  const {label, strip} = row.parts, from = until - window_ms, last_one = spans[spans.length - 1];
  put_classes(row, 'lane' + (is_now ? ' now' : ''));
  write(label, shown(name));
  put(label, 'title', shown(name));
  const drawn = spans.slice(-bars_max).filter(s => s.to >= from || (is_now && s === last_one));
  draw_each(strip, drawn, s => s.from, begin_bar, (bar, s) => {
    const goes_on = is_now && s === last_one, stays = !goes_on && s.from >= from, as = [s.to, zero, window_ms, track_width].join(' ');
    if (stays && bar.as === as) return;
    bar.as = stays ? as : '';
    const what = what_of(s), left = Math.max(s.from, from), width = (goes_on ? until : s.to) - left;
    put_classes(bar, 'bar ' + what.classes + (width / window_ms * track_width < text_min ? ' thin' : ''));
    put_style(bar, 'left', ((left - zero) / window_ms * 100).toFixed(3) + '%');
    put_style(bar, 'width', (width / window_ms * 100).toFixed(3) + '%');
    put_style(bar, 'background-color', what.fill || '');
    write(bar, what.text);
    const told = shown(name) + ': ' + what.told + '; ' + clock(s.from) + (goes_on ? ' until now' : ' to ' + clock(s.to));
    bar.told = () => told + ', ' + span_of_time((goes_on ? until : s.to) - s.from);
    put(bar, 'aria-label', told);
  });
}

// One bar can be reached with Tab, the others with the arrow keys. What it means stands below, also of the one under the cursor.
let told_bar = null;
function tell_bar(bar) {
  told_bar = bar;
  write($('turn'), bar ? bar.told() : '');
}
function mind_bars() {
  if (told_bar && !told_bar.isConnected) tell_bar(null);
  else if (told_bar) tell_bar(told_bar);
  const first = $('timeline').querySelector('.bar');
  if (first && !$('timeline').querySelector('.bar[tabindex="0"]')) first.tabIndex = 0;
}
function move_among_bars(event) {
  const bar = event.target.closest('.bar');
  if (!bar || !event.key.startsWith('Arrow')) return;
  event.preventDefault();
  const here = [...bar.parentNode.children], at = here.indexOf(bar);
  let to = event.key === 'ArrowLeft' ? here[at - 1] : event.key === 'ArrowRight' ? here[at + 1] : null;
  if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
    const lanes = [...$('timeline').querySelectorAll('.strip')].filter(strip => strip.firstElementChild);
    const lane = lanes[lanes.indexOf(bar.parentNode) + (event.key === 'ArrowUp' ? -1 : 1)];
    if (lane) to = lane.lastElementChild;
  }
  if (to) to.focus();
}
function listen_to_timeline() {
  const timeline = $('timeline');
  timeline.addEventListener('keydown', move_among_bars);
  timeline.addEventListener('focusin', event => {
    const bar = event.target.closest('.bar');
    if (!bar) return;
    for (const other of timeline.querySelectorAll('.bar[tabindex="0"]')) other.tabIndex = -1;
    bar.tabIndex = 0;
    tell_bar(bar);
  });
  timeline.addEventListener('focusout', () => tell_bar(null));
  timeline.addEventListener('pointerover', event => {
    const bar = event.target.closest('.bar');
    if (bar) tell_bar(bar);
  });
  timeline.addEventListener('pointerleave', () => {
    const bar = document.activeElement && document.activeElement.closest('.bar');
    tell_bar(bar);
  });
}

// What the colours mean, and what stands for more than a holder. Of bars that are too narrow for words, this is the only text.
const legend_max = 16;
function draw_legend(locks, from) {
  const seen = new Map();
  for (const s of locks.flatMap(l => l.spans)) {
    if (s.to < from) continue;
    if (s.state !== 'held') seen.set(s.state, ['bar ' + s.state, '', s.state === 'partly' ? 'on too few nodes to be held' : 'too few nodes answered']);
    else if (s.shared) seen.set('readers', ['bar shared', colour('readers'), 'readers, together']);
    else seen.set('held ' + (s.label || s.holder), ['', colour(s.label || s.holder), shown(s.label || s.holder)]);
  }
  const all = [...seen.entries()], more = all.length - legend_max;
  if (more > 0) all.splice(legend_max, all.length, ['', ['none', '', 'and ' + more + ' more']]);
  const begin = () => {
    const e = make('span', 'entry');
    e.append(make('i'), make('span', '', ''));
    return e;
  };
  draw_each($('legend'), all, ([key]) => key, begin, (e, [, [classes, fill, text]]) => {
    put_classes(e.firstChild, classes);
    put_style(e.firstChild, 'background-color', fill);
    write(e.lastChild, text);
  });
}

const lanes_max = 40;
function draw_timeline(data) {
  track_width = $('axis').clientWidth;
  const until = data.time, t = data.timeline, end = l => l.spans[l.spans.length - 1].to;
  draw_axis(until);
  move_strips(until);
  draw_each($('node-lanes'), t.nodes, (_, i) => i, begin_lane, (row, n) => dress_lane(row, n.node, n.spans, until, true, what_node));
  const recent = t.locks.filter(l => l.held_now || end(l) >= until - window_ms);
  recent.sort((a, b) => b.held_now - a.held_now || (a.held_now ? a.spans[0].from - b.spans[0].from : end(b) - end(a)) || (a.name < b.name ? -1 : 1));
  const kept = recent.slice(0, lanes_max).sort((a, b) => a.name < b.name ? -1 : 1);
  $('locks-group').hidden = kept.length === 0;
  draw_each($('lock-lanes'), kept, l => l.name, begin_lane, (row, l) => dress_lane(row, l.name, l.spans, until, l.held_now, what_lock));
  mind_bars();
  draw_legend(kept, until - window_ms);
  const now = kept.filter(l => l.held_now).length, more_now = t.locks_now - now;
  const more_before = recent.length - kept.length - recent.filter(l => l.held_now).length + now;
  const more = (more_now > 0 ? count_of(more_now, 'more lock is held now.', 'more locks are held now.') + ' ' : '') +
    (more_before > 0 ? count_of(more_before, 'more lock was', 'more locks were') + ' held meanwhile. ' : '');
  write($('timeline-note'), more + 'The nodes are looked at every ' + span_of_time(data.interval_ms) + '; a turn that is shorter may be missing.');
}
