// Lanes.
const gutter = 104;
const axisHeight = 24;
const stripHeight = 24; // of what concerns all lanes
const endHeight = 18;
const rowHeight = 29;

// Which of several rows each bar is in, so that none lies on another.
function packed(items) {
    const ends = [];
    for (const item of [...items].sort((a, b) => a.from - b.from)) {
        let row = ends.findIndex(end => end <= item.from);
        if (row < 0) row = ends.push(0) - 1;
        ends[row] = Math.max(item.to, item.from + 1);
        item.row = row;
    }
    return Math.max(1, ends.length);
}

const clientLanes = [];
for (let c = 0; c < clients; ++c) {
    const whole = data.leases
        .filter(l => l.client === c)
        .map(l => ({from: l.attempt?.from ?? l.from, to: Math.max(l.to, l.validTo), lease: l}));
    const failed = tries.filter(a => a.client === c && !a.lease).map(a => ({from: a.from, to: a.to, attempt: a}));
    const rows = packed([...whole, ...failed]);
    for (const w of whole) {
        w.lease.row = w.row;
        if (w.lease.attempt) w.lease.attempt.row = w.row;
    }
    for (const f of failed) f.attempt.row = f.row;
    clientLanes.push({rows});
}
const names = [...new Set(data.keys.map(k => k.name))].sort();
const networkRows = linkFaults.length
    ? packed(
          linkFaults.map(g => {
              g.packs = {from: g.from, to: Math.max(g.to ?? g.from, g.from)};
              return g.packs;
          })
      )
    : 0;
for (const g of linkFaults) g.row = g.packs.row;

let lanesHeight = 0;
let network = {top: 0, bottom: 0};
const serverLanes = Array.from({length: servers}, () => ({}));

function layOut(available) {
    const rowsOfKeys = Math.max(1, names.length);
    const shownRows = Math.min(networkRows, 4);
    const natural =
        axisHeight +
        stripHeight +
        clientLanes.reduce((sum, l) => sum + 22 + l.rows * rowHeight + 12, 0) +
        Math.max(56, shownRows * 19 + 24) +
        servers * (30 + rowsOfKeys * 20) +
        endHeight;
    const spare = Math.max(0, available - natural);
    const each = Math.min(14, (spare * 0.5) / (clients + servers || 1));
    let y = axisHeight + stripHeight;
    for (const l of clientLanes) {
        l.top = y;
        l.rowsTop = y + 20 + each / 2;
        y += 22 + l.rows * rowHeight + 8 + each;
        l.port = l.bottom = y;
        y += 4;
    }
    network = {top: y, bottom: y + Math.max(56, shownRows * 19 + 24) + Math.min(130, Math.max(0, spare - each * (clients + servers)))};
    y = network.bottom;
    for (const l of serverLanes) {
        l.top = l.port = y;
        l.rowsTop = y + 22 + each / 2;
        y += 26 + rowsOfKeys * 20 + each;
        l.bottom = y;
        y += 4;
    }
    lanesHeight = Math.max(available, y + endHeight);
}
