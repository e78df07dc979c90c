// The table of locks. The server tells a part of it, and only rows that can be seen, and some around them, are in the document.
const rows_around = 12;
const list = {search: '', from: 0, rows: 60, drawn: [], all: 0, place: ''};

function row_height() {
  return parseFloat(getComputedStyle($('list')).getPropertyValue('--row')) * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

// The rows of the table that can be seen: the first one, and how many.
function seen_rows() {
  const box = $('list'), height = row_height();
  return {first: Math.floor(box.scrollTop / height), count: Math.ceil((box.clientHeight || 700) / height) + 1, height};
}

function wanted_part() {
  const {first, count} = seen_rows();
  return {search: list.search, from: Math.max(0, first - rows_around), rows: count + 2 * rows_around};
}

function begin_row() {
  const row = make('tr');
  row.tabIndex = -1;
  const cell = (label, classes) => {
    const c = make('td', classes);
    if (label) c.dataset.label = label;
    row.append(c);
    return c;
  };
  const p = row.parts = {name: make('span', 'name', ''), swatch: make('i'), holder: make('span', '', ''), dots: make('span', 'dots'), on: make('span', '', '')};
  cell('', 'first').append(p.name);
  p.who = make('span', 'who');
  p.who.append(p.swatch, p.holder);
  cell('holder', 'holder').append(p.who);
  const nodes = make('span');
  nodes.append(p.dots, p.on);
  cell('nodes', '').append(nodes);
  for (const label of ['held for', 'ends in', 'token']) {
    p[label] = make('span', '', '');
    cell(label, '').append(p[label]);
  }
  p.dots.setAttribute('role', 'img');
  return row;
}

function draw_dots(row, lock) {
  const told = [];
  draw_each(row.parts.dots, lock.on, (_, i) => i, () => make('i'), (dot, on) => {
    const same = on.holder && lock.holder && (on.holder.id === lock.holder.id || (on.holder.readers && lock.holder.readers));
    put_classes(dot, on.problem ? 'silent' : !on.holder ? '' : same ? 'has' : 'other');
    told.push(shown(on.node) + ': ' + (on.problem ? 'no answer' : !on.holder ? 'no key' : same ? 'has the key' : 'has the key of somebody else'));
    put(dot, 'title', told[told.length - 1]);
  });
  put(row.parts.dots, 'aria-label', told.join(', ') || 'no node');
}

function holder_of(lock) {
  const h = lock.holder;
  if (!h) return lock.state === 'unknown' ? {text: 'unknown: ' + lock.answered + ' of ' + lock.nodes + ' nodes answered'} : {text: 'nobody: no majority'};
  const who = h.readers ? count_of(h.readers, 'reader') : h.foreign ? 'somebody else\u2019s value' : h.host + ' ' + h.pid + (h.label ? ' ' + h.label : '');
  return {fill: colour(h.readers ? 'readers' : h.label || who), text: shown(who) + (!lock.writer_waits ? '' : h.readers ? '; a writer waits' : '; somebody waits')};
}

// The rows of its slots follow. A change of the number waits for those above it.
function holders_of(s) {
  return {text: s.held + (s.permits === null ? ' permits' : ' of ' + count_of(s.permits, 'permit')) + (s.held_above > 0 ? ', ' + s.held_above + ' above that number' : '')};
}

function dress_row(row, {number, lock, semaphore}, data) {
  const p = row.parts, name = shown(lock.name), none = '\u2013';
  const holder = semaphore ? holders_of(semaphore) : holder_of(lock), called = 'slot' in lock ? 'slot ' + lock.slot : name;
  put_classes(row, ('slot' in lock ? 'slot' : '') + (row.gone ? ' gone' : ''));
  put(row, 'aria-rowindex', String(number + 2));
  write(p.name, called);
  put(p.name, 'title', name);
  p.swatch.hidden = !holder.fill;
  put_style(p.swatch, 'background-color', holder.fill || '');
  write(p.holder, holder.text);
  put(p.holder, 'title', holder.text);
  p.dots.hidden = Boolean(semaphore);
  if (!semaphore) draw_dots(row, lock);
  write(p.on, semaphore ? none : lock.held_on + ' of ' + lock.nodes);
  write(p['held for'], lock.holder && lock.holder.since ? span_of_time(data.time - lock.holder.since * 1000) : none);
  write(p['ends in'], lock.ttl_ms === null ? none : span_of_time(lock.ttl_ms));
  write(p.token, String(lock.token ?? none));
  row.told = () => (called === name ? '' : name + ', ') + called + ': ' + holder.text + (semaphore ? '' : '; ' + p.dots.getAttribute('aria-label'));
}

// Each lock and each slot of a semaphore is a row. A part may begin amid the slots of a semaphore, whose own row is above it then.
function rows_of(found) {
  const rows = [];
  for (const lock of found.locks) {
    const s = lock.semaphore;
    if (!s) {
      rows.push({key: 'lock ' + lock.name, number: lock.row, lock});
      continue;
    }
    if (lock.row >= found.from) rows.push({key: 'semaphore ' + lock.name, number: lock.row, lock, semaphore: s});
    s.slots.forEach((slot, i) => rows.push({key: 'lock ' + slot.name, number: lock.row + 1 + (s.slots_from || 0) + i, lock: slot}));
  }
  return rows;
}

// While the cursor moves in the table, or a text in it is selected, no row moves away: what has gone is struck out, and what is new waits.
function is_held() {
  const box = $('list'), s = getSelection();
  return (!s.isCollapsed && box.contains(s.anchorNode)) || (box.matches(':hover') && pointer_moves());
}

function with_what_stays(rows, found) {
  const now = new Map(rows.map(r => [r.key, r])), there = list.drawn.map(r => now.has(r.key));
  const first = there.indexOf(true), last = there.lastIndexOf(true);
  const covers_start = found.from === 0, covers_end = found.from + rows.length >= found.rows;
  return list.drawn.map((row, i) => {
    if (there[i]) return {...now.get(row.key), number: row.number, gone: false};
    return {...row, gone: row.gone || ((covers_start || (first >= 0 && first < i)) && (covers_end || last > i))};
  });
}

// Rows that come or go above those that are seen do not move these.
function keep_place(rows) {
  const {first, height} = seen_rows(), box = $('list');
  if (first === 0) return;
  const now = new Map(rows.map(r => [r.key, r.number])), stays = list.drawn.find(r => r.number >= first && now.has(r.key));
  if (stays && now.get(stays.key) !== stays.number) box.scrollTop += (now.get(stays.key) - stays.number) * height;
}

function draw_rows(data) {
  const found = data.locks, place = data.part.from + ' ' + data.part.search;
  let rows = rows_of(found);
  const held = place === list.place && list.drawn.length > 0 && is_held();
  if (held) {
    rows = with_what_stays(rows, found);
  } else {
    list.all = found.rows;
    list.place = place;
  }
  $('list').hidden = list.all === 0;
  const {height} = seen_rows(), before = rows.length ? rows[0].number : 0, after = Math.max(0, list.all - before - rows.length);
  put_style($('list'), '--nodes', String(data.nodes.length));
  put($('table'), 'aria-rowcount', String(list.all + 1));
  put_style($('above').firstElementChild, 'height', before * height + 'px');
  put_style($('below').firstElementChild, 'height', after * height + 'px');
  $('above').hidden = before === 0;
  $('below').hidden = after === 0;
  draw_each($('rows'), rows, r => r.key, begin_row, (row, r) => {
    row.gone = r.gone;
    dress_row(row, r, data);
  });
  if (!held) keep_place(rows);
  list.drawn = rows;
  tell_row();
}

function tell_row() {
  const row = document.activeElement && document.activeElement.closest('#rows tr');
  write($('row'), row ? row.told() + (row.gone ? '; it has ended' : '') : '');
}

// Why the list may lack locks.
function why_incomplete(data) {
  const found = data.locks, needed = data.nodes.length - data.majority + 1;
  const problem = found.nodes.find(n => n.problem !== null), searched = found.nodes.filter(n => n.problem === null).length;
  if (searched < needed)
    return data.nodes.filter(n => n.state !== 'down').length < needed ? 'Too few nodes answer to know of each lock.' :
      'Too few nodes could be searched to know of each lock: ' + shown(problem.node) + ': ' + shown(problem.problem) + '.';
  if (found.search === 'too_many') return 'There are more locks: the search stops at as many as --limit says.';
  if (found.search !== 'complete') return 'There may be more locks: the search took too long, and was ended.';
  return found.known ? '' : 'Of some locks too few nodes have told whether they are held.';
}

function draw_locks(data) {
  const found = data.locks, empty = $('empty');
  write($('count'), found ? (found.search === 'complete' ? '' : 'at least ') + count_of(found.held, 'lock') : '');
  if (!found) return;
  draw_rows(data);
  empty.hidden = list.all > 0;
  const is_known = found.known, searches = data.part.search !== '';
  write(empty, searches ? 'No lock has that in its name, or its holder\u2019s host, process or label.' : is_known ? 'No lock is held.' : 'No lock was found.');
  if (list.search === data.part.search) write($('matches'), searches ? count_of(found.rows, 'row matches', 'rows match') : '');
  const notes = list.all === 0 ? [] : ['A dot is a node; a filled one has the key. A lock ends when its time is over, unless its holder extends it.'];
  const why = why_incomplete(data);
  if (why) notes.push(why);
  if (found.foreign_keys) notes.push(count_of(found.foreign_keys, 'other key on these servers is no lock', 'other keys on these servers are no locks') + ' of this library.');
  write($('locks-note'), notes.join(' '));
}

function move_among_rows(event) {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const row = event.target.closest('#rows tr'), rows = [...$('rows').children];
  const {first} = seen_rows(), start = list.drawn.findIndex(r => r.number >= first);
  const to = rows[row ? rows.indexOf(row) + (event.key === 'ArrowDown' ? 1 : -1) : Math.max(0, start)];
  event.preventDefault();
  if (!to) return;
  to.focus({preventScroll: true});
  to.scrollIntoView({block: 'nearest'});
}

function listen_to_list(look_again) {
  const box = $('list');
  let asked = null;
  $('search').addEventListener('input', () => {
    clearTimeout(asked);
    asked = setTimeout(() => {
      list.search = $('search').value.trim();
      box.scrollTop = 0;
      look_again();
    }, 150);
  });
  const look_where_it_is = () => {
    const {first, count} = seen_rows(), drawn = list.drawn;
    if (list.all > 0 && (first < (drawn[0] || {number: 0}).number || Math.min(first + count, list.all) > (drawn[drawn.length - 1] || {number: 0}).number + 1)) look_again();
  };
  box.addEventListener('scroll', look_where_it_is, {passive: true});
  addEventListener('resize', () => redraw());
  box.addEventListener('keydown', move_among_rows);
  box.addEventListener('focusin', tell_row);
  box.addEventListener('focusout', () => write($('row'), ''));
}
