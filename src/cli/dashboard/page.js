const marks = {good: '✓', warning: '!', danger: '✕', wait: '…'};
let last = null;
function draw(data) {
  last = data;
  const verdict = $('verdict');
  put_classes(verdict, 'verdict ' + data.verdict.level);
  write(verdict.firstElementChild, marks[data.verdict.level]);
  write(verdict.lastElementChild, data.verdict.text);
  const title = (data.verdict.level === 'good' ? '' : marks[data.verdict.level] + ' ') + 'redlock';
  if (document.title !== title) document.title = title;
  draw_nodes(data);
  draw_windows(data);
  draw_timeline(data);
  draw_locks(data);
  draw_events(data);
}

function redraw() {
  if (last) keep_still(() => keep_selection(() => draw(last)));
}

// The clock is no live region, which would be read aloud each second: what is told is that answers stay away, and that they come again.
function tell_state(answers, data) {
  document.body.classList.toggle('late', !answers);
  put_classes($('updated'), answers ? 'live' : 'late');
  write($('updated').lastElementChild, answers ? clock(data.time) : 'no answer' + (last ? ' since ' + clock(last.time) : ''));
  const told = $('told');
  if (!answers) write(told, 'The dashboard does not answer. What stands here is old.');
  else if (told.textContent !== '') write(told, 'The dashboard answers again.');
}

let under_way = null, again = false, pause = null;
async function look() {
  clearTimeout(pause);
  let interval = 1000;
  const part = wanted_part();
  again = false;
  try {
    const query = new URLSearchParams(part);
    const answer = await fetch('/api/status.json?' + query, {cache: 'no-store', signal: AbortSignal.timeout(5000)});
    if (!answer.ok) throw new Error(answer.status);
    const text = await answer.text();
    performance.clearMeasures('redraw');
    const from = performance.now();
    const data = JSON.parse(text);
    data.part = part;
    interval = Math.max(200, data.interval_ms);
    keep_still(() => keep_selection(() => draw(data)));
    performance.measure('redraw', {start: from});
    document.body.dataset.drawn = 'true';
    tell_state(true, data);
  } catch (problem) {
    tell_state(false);
  }
  if (again) return look();
  under_way = null;
  pause = setTimeout(() => document.hidden ? document.addEventListener('visibilitychange', look_again, {once: true}) : look_again(), interval);
}

function look_again() {
  if (under_way) again = true;
  else under_way = look();
}

listen_to_timeline();
listen_to_list(look_again);
look_again();
