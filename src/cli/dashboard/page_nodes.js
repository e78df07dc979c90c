// Nodes, and what happened to them.
const svg_ns = 'http://www.w3.org/2000/svg';
function svg_child(parent, tag, classes) {
  const e = document.createElementNS(svg_ns, tag);
  if (classes) e.setAttribute('class', classes);
  parent.append(e);
  return e;
}

function begin_sparkline() {
  const svg = document.createElementNS(svg_ns, 'svg');
  svg.setAttribute('viewBox', '0 0 100 30');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.parts = {title: svg_child(svg, 'title'), area: svg_child(svg, 'path', 'area'), line: svg_child(svg, 'path')};
  return svg;
}

function dress_sparkline(svg, points, until, window_ms) {
  const recent = points.filter(p => p[0] >= until - window_ms), {title, area, line} = svg.parts;
  const most = Math.max(...recent.map(p => p[1]), 1);
  write(title, recent.length < 2 ? 'no round trips yet' : 'round trips of the last two minutes, at most ' + micros(most));
  const at = p => ((p[0] - until + window_ms) / window_ms * 100).toFixed(2) + ' ' + (29 - p[1] / most * 27).toFixed(2);
  const path = recent.length < 2 ? '' : 'M' + recent.map(at).join('L');
  line.setAttribute('d', path);
  area.setAttribute('d', path && path + 'L100 30L' + at(recent[0]).split(' ')[0] + ' 30Z');
}

function draw_facts(list, pairs) {
  const begin = () => {
    const pair = make('div');
    pair.append(make('dt', '', ''), make('dd', '', ''));
    return pair;
  };
  draw_each(list, pairs.filter(p => p[1] !== null), p => p[0], begin, (pair, [name, value, title]) => {
    write(pair.firstChild, name);
    write(pair.lastChild, value);
    put(pair.lastChild, 'title', title || null);
  });
}

function clock_text(n) {
  if (n.clock_ahead_us === null) return null;
  const off = Math.abs(n.clock_ahead_us);
  if (off <= n.clock_uncertain_us) return '0 ± ' + micros(n.clock_uncertain_us);
  return micros(off) + (n.clock_ahead_us > 0 ? ' ahead' : ' behind');
}

function begin_node() {
  const card = make('article'), head = make('div', 'head');
  card.parts = {name: make('h3', 'name', ''), pill: make('span', 'pill', ''), why: make('p', 'why', ''), facts: make('dl'), trips: begin_sparkline()};
  const {name, pill, why, facts, trips} = card.parts;
  head.append(name, pill);
  card.append(head, why, facts, trips);
  return card;
}

function dress_node_card(card, n, trips, data) {
  const p = card.parts;
  put_classes(card, 'node ' + n.level);
  write(p.name, shown(n.node));
  write(p.pill, state_words[n.state] || n.state);
  const why = n.state !== 'admitted' && n.text ? shown(n.text) : '';
  p.why.hidden = why === '';
  write(p.why, why);
  put(p.why, 'title', why || null);
  draw_facts(p.facts, [
    ['round trip', n.round_trip_us === null || trips.length === 0 ? null : micros(median(trips.slice(-9).map(t => t[1]))), 'the median of the last nine'],
    ['clock', clock_text(n), 'compared with this machine\u2019s'],
    [n.server, n.version === null ? null : shown(n.version)],
    ['up for', n.up_for_s === null ? null : span_of_time(n.up_for_s * 1000)],
    [(state_words[n.state] || n.state) + (n.since_first_look ? ' for at least' : ' for'), n.since === null || n.state === 'admitted' ? null : span_of_time(data.time - n.since)],
  ]);
  p.trips.style.display = n.state === 'down' ? 'none' : '';
  if (n.state !== 'down') dress_sparkline(p.trips, trips, data.time, 120000);
}

function draw_nodes(data) {
  draw_each($('nodes'), data.nodes, (_, i) => i, begin_node, (card, n, i) => dress_node_card(card, n, data.timeline.nodes[i].round_trips_us, data));
  write($('nodes-note'), data.nodes.length === 1 ? 'The client that has a lock\u2019s key on this node holds the lock.' :
    'The client that has a lock\u2019s key on ' + data.majority + ' of these ' + data.nodes.length + ' nodes holds the lock.');
}

function draw_events(data) {
  const begin = e => {
    const li = make('li', e.level);
    li.append(make('time', '', clock(e.at)), make('span', 'name', e.node === null ? 'all nodes' : shown(e.node)), make('span', 'what', shown(e.text)));
    return li;
  };
  draw_each($('events'), data.events.slice().reverse(), e => [e.at, e.node, e.text].join('\n'), begin, () => {});
  $('no-events').hidden = data.events.length > 0;
  $('events').hidden = data.events.length === 0;
}
