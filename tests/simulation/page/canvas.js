// The canvas, and how bars and texts get on it.
const canvas = $('lanes');
const g = canvas.getContext('2d');
const overview = $('overview');
const og = overview.getContext('2d');
const fontOf = (size, weight = '') => `${weight} ${size}px system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif`;
let width = 0; // of the canvas
let hits = []; // what the pointer can be on: shapes, the last on top
let hot = null; // what it is on
let taken = []; // where there are labels
let pointer = null;
const scroll = $('scroll');

const x = t => gutter + ((place(t) - view.from) / (view.to - view.from)) * (width - gutter);
const timeAt = px => time(view.from + ((px - gutter) / (width - gutter)) * (view.to - view.from));
const clampX = px => Math.min(Math.max(px, gutter - 20), width + 20);
const seen = (from, to) => place(to) >= view.from && place(from) <= view.to;

function hatch(context, ink, size = 7) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = size * 2;
    const t = tile.getContext('2d');
    t.strokeStyle = ink;
    t.lineWidth = 1.6;
    for (const d of [-size * 2, 0, size * 2]) {
        t.beginPath();
        t.moveTo(d, size * 2);
        t.lineTo(d + size * 2, 0);
        t.stroke();
    }
    const pattern = context.createPattern(tile, 'repeat');
    pattern.setTransform(new DOMMatrix().scale(0.5));
    return pattern;
}
let patterns = {};

function shortened(text, room) {
    if (g.measureText(text).width <= room) return text;
    let low = 0,
        high = text.length;
    while (low < high) {
        const m = (low + high + 1) >> 1;
        if (g.measureText(text.slice(0, m) + '…').width <= room) low = m;
        else high = m - 1;
    }
    return low < 2 ? '' : text.slice(0, low) + '…';
}
// Draws the text if nothing is in its way.
function label(text, left, baseline, ink, {size = 11, weight = '', align = 'left', halo = null, force = false} = {}) {
    g.font = fontOf(size, weight);
    const w = g.measureText(text).width;
    if (align === 'center') left -= w / 2;
    if (align === 'right') left -= w;
    if (left < gutter + 2 && !force) return false;
    if (left + w > width - 2 && !force) return false;
    const box = [left - 3, baseline - size, left + w + 3, baseline + 3];
    if (!force && taken.some(b => b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1])) return false;
    taken.push(box);
    if (halo) {
        g.fillStyle = halo;
        g.globalAlpha = 0.85;
        g.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
        g.globalAlpha = 1;
    }
    g.fillStyle = ink;
    g.fillText(text, left, baseline);
    return true;
}
const occupied = (x0, y0, x1, y1) => taken.push([x0, y0, x1, y1]);
// A text inside a bar, in what is visible of it.
function inBar(texts, x0, x1, baseline, ink, weight = '600') {
    g.font = fontOf(11, weight);
    const left = Math.max(x0, gutter) + 5,
        room = Math.min(x1, width) - left - 4;
    if (room < 12) return;
    let text = texts.find(t => g.measureText(t).width <= room);
    if (!text) text = shortened(texts.at(-1), room);
    g.fillStyle = ink;
    g.fillText(text, left, baseline);
}
function bar(x0, x1, y, h) {
    g.beginPath();
    g.roundRect(x0, y, Math.max(x1 - x0, 1.5), h, Math.min(3, Math.max(0, (x1 - x0) / 2)));
}

function drawTicks() {
    const y = scroll.scrollTop;
    g.fillStyle = colour.panel;
    g.fillRect(0, y, width, axisHeight);
    g.fillStyle = colour.line;
    g.fillRect(0, y + axisHeight - 1, width, 1);
    const ticks = [];
    let text = moment,
        base = '';
    if (view.squeezed) {
        for (let px = gutter + 20; px < width - 20; px += 124) {
            const t = timeAt(px),
                near = Math.max(Math.abs(timeAt(px + 40) - t), 1);
            const step = 10 ** Math.floor(Math.log10(near));
            const nice = Math.round(t / step) * step;
            if (nice < 0 || (ticks.length && nice <= ticks.at(-1))) continue;
            ticks.push(nice);
        }
        text = t => (t >= 1e9 ? grouped(trimmed(t / 1e9, 6)) + ' s' : trimmed(t / 1e6, 3) + ' ms');
    } else {
        const raw = (view.to - view.from) / ((width - gutter) / 112);
        const power = 10 ** Math.floor(Math.log10(raw));
        const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
        const far = Math.max(Math.abs(view.to), 1);
        let zero = 0;
        if ((far >= 1e9 && step < 1e6) || (far < 1e9 && step < 1e3)) {
            const p = 10 ** Math.ceil(Math.log10((view.to - view.from) * 2));
            zero = Math.max(0, Math.floor(view.from / p) * p);
        }
        for (let k = Math.ceil(Math.max(view.from, 0) / step); k * step <= view.to; ++k) ticks.push(k * step);
        const [unit, name] = zero
            ? step >= 1e4
                ? [1e6, 'ms']
                : [1e3, 'µs']
            : far >= 1e9
              ? [1e9, 's']
              : far >= 1e6
                ? [1e6, 'ms']
                : [1e3, 'µs'];
        const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / step) - 1e-9)));
        text = t => (zero ? '+' : '') + grouped(((t - zero) / unit).toFixed(digits)) + ' ' + name;
        if (zero) base = trimmed(zero / 1e9, 6) + ' s';
    }
    g.font = fontOf(11);
    g.fillStyle = colour.dim;
    g.fillText(base || 'time', 8, y + 16);
    let free = gutter;
    for (const t of ticks) {
        const px = x(t);
        if (px < gutter || px > width) continue;
        g.strokeStyle = colour.line;
        g.beginPath();
        g.moveTo(px, y + axisHeight - 6);
        g.lineTo(px, y + axisHeight);
        g.stroke();
        g.font = fontOf(11);
        const w = g.measureText(text(t)).width;
        const left = Math.min(Math.max(px - w / 2, gutter), width - w - 2);
        if (left < free) continue;
        g.fillStyle = colour.dim;
        g.fillText(text(t), left, y + 15);
        free = left + w + 12;
    }
    return ticks;
}

function drawGrid(ticks) {
    g.strokeStyle = colour.line;
    g.globalAlpha = 0.6;
    for (const t of ticks) {
        const px = Math.round(x(t)) + 0.5;
        if (px < gutter) continue;
        g.beginPath();
        g.moveTo(px, axisHeight);
        g.lineTo(px, lanesHeight - endHeight);
        g.stroke();
    }
    g.globalAlpha = 1;
}

function drawLanes() {
    for (const l of [...clientLanes, ...serverLanes]) {
        g.fillStyle = colour.lane;
        g.fillRect(gutter, l.top, width - gutter, l.bottom - l.top);
    }
    for (const l of [...clientLanes, ...serverLanes]) {
        g.strokeStyle = colour.dim;
        g.lineWidth = 1.2;
        g.beginPath();
        g.moveTo(gutter, l.port);
        g.lineTo(width, l.port);
        g.stroke();
    }
    g.lineWidth = 1;
}

function drawGutter() {
    g.fillStyle = colour.panel;
    g.fillRect(0, axisHeight, gutter, lanesHeight);
    g.fillStyle = colour.line;
    g.fillRect(gutter - 1, axisHeight, 1, lanesHeight);
    clientLanes.forEach((l, i) => {
        const middle = (l.top + l.bottom) / 2;
        g.fillStyle = colour.clients[i % colour.clients.length];
        g.fillRect(0, l.top, 5, l.bottom - l.top);
        g.fillStyle = colour.ink;
        g.font = fontOf(13, '600');
        g.fillText(client(i), 13, middle);
        g.fillStyle = colour.dim;
        g.font = fontOf(10.5);
        g.fillText('clock ' + fast(data.clientClocks[i]), 13, middle + 14);
    });
    serverLanes.forEach((l, i) => {
        const middle = (l.top + l.bottom) / 2;
        g.fillStyle = colour.ink;
        g.font = fontOf(13, '600');
        g.fillText(server(i), 13, middle - 1);
        g.fillStyle = colour.dim;
        g.font = fontOf(10.5);
        g.fillText('clock ' + fast(data.serverClocks[i]), 13, middle + 12);
    });
    g.fillStyle = colour.dim;
    g.font = fontOf(11);
    g.fillText('network', 13, (network.top + network.bottom) / 2 + 4);
}
