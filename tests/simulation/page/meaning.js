// What the data mean.
const clients = data.clientClocks.length;
const servers = data.serverClocks.length;
const majority = Math.floor(servers / 2) + 1;
const stopped = data.violation !== null ? data.end : Infinity; // nothing is known of what comes later

const owner = value => {
    const m = /^p(\d+)-(\d+)$/.exec(value);
    return m ? {client: +m[1], attempt: +m[2]} : null;
};

for (const l of data.leases) {
    const last = Math.min(l.letGo ?? Infinity, l.ended ?? Infinity);
    l.valid = [];
    l.validUntil.forEach(([at, until], i) => {
        const to = Math.min(until, l.validUntil[i + 1]?.[0] ?? Infinity, last);
        if (l.valid.length && l.valid.at(-1)[1] >= at) l.valid.at(-1)[1] = Math.max(to, l.valid.at(-1)[1]);
        else if (to > at) l.valid.push([at, to]);
    });
    l.until = l.validUntil.at(-1)[1];
    l.validTo = l.valid.length ? l.valid.at(-1)[1] : l.from;
    l.to = l.ended ?? Math.max(l.validTo, Math.min(stopped, data.end));
    l.kind = 'lease';
}

// One attempt to acquire: from its first request until it is decided.
const attempts = new Map();
for (const m of data.messages) {
    for (const [what, key, value, ttl] of m.commands) {
        const id = m.client + ' ' + value;
        let a = attempts.get(id);
        if (what === 'acquire') {
            if (!a)
                attempts.set(id, (a = {kind: 'attempt', client: m.client, name: key, value, ttl, from: m.sent, to: m.sent, done: false}));
            if (!a.done) a.to = Math.max(a.to, m.delivered ?? m.cut ?? m.sent);
        } else if (what === 'release' && a && !a.done) {
            a.to = Math.max(a.from, Math.min(a.to, m.sent));
            a.done = true;
        }
    }
}
const tries = [];
for (const a of attempts.values()) {
    a.lease = data.leases.find(l => l.client === a.client && l.value === a.value && l.from >= a.from) ?? null;
    if (a.lease) {
        a.to = a.lease.from;
        a.lease.attempt = a;
    }
    tries.push(a);
}

function whyKeyEnded(k) {
    if (k.to === null) return 'still there';
    for (const m of data.messages)
        if (
            m.server === k.server &&
            (m.answered === k.to || m.arrived === k.to || m.haunted.includes(k.to)) &&
            m.commands.some(([what, , value]) => what === 'release' && value === k.value)
        )
            return 'released';
    for (const f of data.faults) if (f.server === k.server && f.client === null && f.from === k.to) return f.what;
    return 'expired';
}
for (const k of data.keys) {
    k.kind = 'key';
    k.why = whyKeyEnded(k);
}

// Faults of links that are one fault: a partition between some clients and some servers.
const linkFaults = [];
for (const f of data.faults) {
    f.kind = 'fault';
    if (f.client === null || f.server === null) continue;
    let g = linkFaults.find(o => o.what === f.what && o.from === f.from && o.to === f.to);
    if (!g) linkFaults.push((g = {kind: 'fault', what: f.what, from: f.from, to: f.to, clients: [], servers: []}));
    if (!g.clients.includes(f.client)) g.clients.push(f.client);
    if (!g.servers.includes(f.server)) g.servers.push(f.server);
}
for (const g of linkFaults) g.title = `${g.what}: ${listed('client', g.clients)} – ${listed('server', g.servers)}`;
const named = f => f.what + (f.to !== null ? ` (${length(f.to - f.from)})` : '');
const ownFaults = data.faults.filter(f => f.client === null || f.server === null);

// Two valid leases of one name.
const overlaps = [];
data.leases.forEach((a, i) =>
    data.leases.slice(i + 1).forEach(b => {
        const names = a.name.split(', ');
        if (!b.name.split(', ').some(name => names.includes(name))) return;
        if (a.client === b.client && a.value === b.value) return; // passed on, or nested
        for (const [a0, a1] of a.valid)
            for (const [b0, b1] of b.valid) {
                const from = Math.max(a0, b0),
                    to = Math.min(a1, b1);
                if (to <= from) continue;
                const [first, second] = a.from <= b.from ? [a, b] : [b, a];
                overlaps.push({
                    first,
                    second,
                    from,
                    to,
                    judged: data.violation !== null && from <= data.end && /valid at once/.test(data.violation)
                });
            }
    })
);

// What the page shows first.
const story = {band: null, text: [], chips: []};
if (data.violation !== null) {
    const late = /(\d+) ns (past|longer|after)/.exec(data.violation);
    const kept = /server (\d+) still has a key.*: (.*) = (.*)$/.exec(data.violation);
    const both = overlaps.filter(o => o.judged).sort((a, b) => b.from - a.from)[0];
    if (both) {
        const {first, second, from, to} = both;
        story.band = {from, to, label: `both hold “${first.name}” for ${length(to - from)}`, overlap: both};
        story.text.push(
            `${client(first.client)} holds “${first.name}” (${first.value}) since ${moment(first.from)}, ` +
                `valid until ${moment(first.until)}. ` +
                `${client(second.client)} (${second.value}) gets it at ${moment(second.from)} all the same: ` +
                `both hold it for ${length(to - from)}.`
        );
        for (let s = 0; s < servers; ++s) {
            const here = data.keys.find(
                k => k.server === s && k.name === first.name && k.from <= data.end && (k.to === null || k.to > data.end)
            );
            let text = here ? here.value : 'nothing';
            const mine = data.keys
                .filter(k => k.server === s && k.name === first.name && k.value === first.value && k.to !== null && k.to <= data.end)
                .at(-1);
            if (mine) text += ` (${first.value} ${mine.why} ${length(data.end - mine.to)} before)`;
            story.chips.push({value: here ? here.value : null, text: `${server(s)}: ${text}`});
        }
    } else if (late) {
        const d = Math.min(+late[1], data.end);
        story.band = {from: data.end - d, to: data.end, label: `${length(d)} too long`};
    } else if (kept) {
        story.key = data.keys.filter(k => k.server === +kept[1] && k.name === kept[2] && k.value === kept[3]).at(-1);
        if (story.key) story.text.push(`The key came at ${moment(story.key.from)}; it is outlined in red on ${server(story.key.server)}.`);
    }
    story.text.push(`Noticed at ${moment(data.end)}, where the schedule stops.`);
} else if (overlaps.length) {
    story.text.push(
        `Two leases of one name are valid at once ${overlaps.length === 1 ? 'once' : overlaps.length + ' times'}, ` +
            'which this schedule allows: ' +
            'its faults break an assumption that exclusion rests on (servers keep their memory, clocks keep within the drift).'
    );
}
