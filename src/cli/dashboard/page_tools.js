'use strict';
// Everything that comes from servers gets on the page as text, by textContent and attributes, and never as HTML.
const $ = id => document.getElementById(id);

function make(tag, classes, text) {
  const e = document.createElement(tag);
  if (classes) e.className = classes;
  if (text !== undefined) e.textContent = text;
  return e;
}

// What is drawn again stays the same elements, so that focus, selection and what is under the cursor stay. Only what differs is written.
function write(e, text) {
  const only = e.firstChild;
  if (only && only === e.lastChild && only.nodeType === Node.TEXT_NODE) {
    if (only.data !== text) only.data = text;
  } else if (e.textContent !== text) e.textContent = text;
}
function put(e, name, value) {
  if (value === null) e.removeAttribute(name);
  else if (e.getAttribute(name) !== value) e.setAttribute(name, value);
}
function put_classes(e, classes) { if (e.className !== classes) e.className = classes; }
const styles = new WeakMap();  // as they were written; a browser writes them in its own way
function put_style(e, name, value) {
  if (!styles.has(e)) styles.set(e, {});
  const is = styles.get(e);
  if (is[name] !== value) e.style.setProperty(name, is[name] = value);
}

// The children of `parent`: one for each item, in this order. `begin` makes it, `dress` writes into it what the item says.
const children = new WeakMap();
function draw_each(parent, items, key_of, begin, dress) {
  const before = children.get(parent) || new Map(), now = new Map();
  items.forEach((item, i) => {
    const key = key_of(item, i), e = before.get(key) || begin(item);
    before.delete(key);
    now.set(key, e);
    dress(e, item, i);
  });
  for (const gone of before.values()) remove_kindly(gone);
  let next = parent.firstElementChild;
  for (const e of now.values()) {
    if (e === next) next = next.nextElementSibling;
    else parent.insertBefore(e, next);
  }
  children.set(parent, now);
}

// What has the focus and goes gives it to what stands beside it, or around it.
function remove_kindly(e) {
  const refuge = e.contains(document.activeElement) &&
    (e.hasAttribute('tabindex') && (e.nextElementSibling || e.previousElementSibling) || e.parentNode.closest('[tabindex]'));
  e.remove();
  if (refuge) refuge.focus({preventScroll: true});
}

// A text that is written anew takes the ends of a selection to its start.
function keep_selection(change) {
  const s = getSelection(), {anchorNode: a, anchorOffset: from, focusNode: f, focusOffset: to} = s;
  const was = s.isCollapsed;
  change();
  if (was || !a.isConnected || !f.isConnected) return;
  const within = (node, at) => Math.min(at, node.nodeType === Node.TEXT_NODE ? node.length : node.childNodes.length);
  if (s.anchorNode !== a || s.focusNode !== f || s.anchorOffset !== from || s.focusOffset !== to)
    s.setBaseAndExtent(a, within(a, from), f, within(f, to));
}

// What is under the cursor stays there, though something above it grows or goes; and else what has the focus, what is selected, or what is in the middle.
const hold_ms = 5000;
const pointer = {x: -1, y: -1, moved: -hold_ms};
addEventListener('pointermove', event => Object.assign(pointer, {x: event.clientX, y: event.clientY, moved: performance.now()}), {passive: true});
function pointer_moves() { return performance.now() - pointer.moved < hold_ms; }
function keep_still(change) {
  const s = getSelection(), focus = document.activeElement;
  let e = pointer_moves() ? document.elementFromPoint(pointer.x, pointer.y) : focus !== document.body ? focus : s.isCollapsed ? null : s.anchorNode.parentElement;
  if (!e && scrollY > 0) e = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  if (e) e = e.closest('#list, #events') || e;
  const top = e && e.getBoundingClientRect().top;
  change();
  if (e && e.isConnected) scrollBy(0, e.getBoundingClientRect().top - top);
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
function count_of(n, one, more) { return n.toLocaleString('en') + ' ' + (n === 1 ? one : more || one + 's'); }
function median(numbers) { return numbers.sort((a, b) => a - b)[numbers.length >> 1]; }

const state_words = {admitted: 'votes', down: 'down', quarantined: 'quarantined', uninitialized: 'not admitted', not_primary: 'replica',
                     unidentified: 'unidentified', wrong_node_set: 'wrong set', not_durable: 'not durable', unsuitable: 'unfit',
                     needs_operator: 'needs an operator', unknown: 'asking'};
const state_levels = {admitted: 'good', down: 'danger', not_primary: 'danger', wrong_node_set: 'danger', not_durable: 'danger', unsuitable: 'danger',
                      needs_operator: 'danger', unknown: 'unknown'};
const level_of = state => state_levels[state] || 'warning';

// One holder has one colour wherever it stands, and so do the processes with one label.
// The first eight differ.
const colours = new Map();
function colour(who) {
  if (colours.size > 1000) colours.clear();
  if (!colours.has(who)) colours.set(who, colours.size % 8);
  return 'var(--h' + colours.get(who) + ')';
}
