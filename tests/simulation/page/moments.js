// The list of moments.
const moments = [];
if (data.violation !== null) moments.push({at: data.end, kind: 'violation', text: readable(data.violation)});
for (const o of overlaps)
    if (!o.judged)
        moments.push({
            at: o.from,
            kind: 'fault',
            text: `both hold “${o.first.name}”: ${o.first.value} and ${o.second.value}, for ${length(o.to - o.from)} (allowed here)`
        });
for (const f of ownFaults)
    moments.push({at: f.from, kind: 'fault', text: `${f.client !== null ? client(f.client) : server(f.server)}: ${named(f)}`});
for (const f of linkFaults) moments.push({at: f.from, kind: 'fault', text: f.title + (f.to !== null ? ` (${length(f.to - f.from)})` : '')});
for (const l of data.leases) {
    l.validUntil.forEach(([at, until], i) =>
        moments.push({
            at,
            kind: 'lease',
            client: l.client,
            value: l.value,
            text: `${client(l.client)} ${i ? 'extends' : 'acquires'} “${l.name}” (${l.value}), for ${length(until - at)}`
        })
    );
    if (l.ended !== null)
        moments.push({
            at: l.ended,
            kind: 'lease',
            client: l.client,
            value: l.value,
            text: `${client(l.client)} has “${l.name}” (${l.value}) no more: ${l.why}`
        });
}
for (const n of data.notes) moments.push({at: n.at, kind: 'note', client: n.client, text: `${client(n.client)}: ${n.text}`});
for (const m of data.messages)
    moments.push({
        at: m.sent,
        kind: 'message',
        client: m.client,
        text:
            `${client(m.client)} → ${server(m.server)}: ${m.commands.map(c => c[0] + ' ' + c[2]).join(', ')}` +
            (m.delivered !== null ? ': ' + m.answers.join(', ') : m.cut !== null ? ': lost' : '')
    });
moments.sort((a, b) => a.at - b.at || (a.kind === 'violation') - (b.kind === 'violation'));

const shownKinds = {violation: true, fault: true, lease: true, note: false, message: false};
let current = -1;
function listMoments() {
    for (const [kind, title] of [
        ['fault', 'faults'],
        ['lease', 'leases'],
        ['note', 'notes'],
        ['message', 'messages']
    ]) {
        const box = element('input', {type: 'checkbox'});
        box.checked = shownKinds[kind];
        box.addEventListener('change', () => {
            shownKinds[kind] = box.checked;
            filterMoments();
        });
        $('kinds').append(element('label', {}, box, title));
    }
    moments.forEach((m, i) => {
        m.button = element('button', {class: m.kind, type: 'button'}, element('time', {}, moment(m.at)), element('span', {}, m.text));
        m.button.addEventListener('click', () => goTo(i));
        m.row = element('li', {}, m.button);
        $('moments').append(m.row);
    });
    filterMoments();
}
function filterMoments() {
    for (const m of moments) m.row.hidden = !shownKinds[m.kind];
}
function colourMoments() {
    for (const m of moments)
        if (m.client !== undefined)
            m.button.style.borderLeftColor = m.kind === 'lease' ? colourOf(m.value, m.client) : colour.clients[m.client % 5];
}
function mark(i) {
    if (current >= 0) moments[current].button.removeAttribute('aria-current');
    current = i;
    const row = moments[i].row,
        list = $('moments');
    moments[i].button.setAttribute('aria-current', 'true');
    list.scrollTop = Math.min(
        Math.max(list.scrollTop, row.offsetTop - list.offsetTop - list.clientHeight + 50),
        Math.max(0, row.offsetTop - list.offsetTop - 50)
    );
}
function goTo(i) {
    mark(i);
    if (moments[i].kind === 'violation') showViolation();
    else showMoment(moments[i].at);
}
function step(by) {
    let i = current;
    if (i < 0) {
        const middle = time((view.from + view.to) / 2);
        i = moments.findIndex(m => m.at >= middle);
        if (i < 0) i = moments.length;
        if (by > 0) --i;
    }
    do i += by;
    while (moments[i] && !shownKinds[moments[i].kind]);
    if (moments[i]) goTo(i);
}
