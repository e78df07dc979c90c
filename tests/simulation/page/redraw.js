// When it is drawn, and the overview.
function drawOverview() {
    const ratio = devicePixelRatio || 1,
        h = 46;
    og.setTransform(ratio, 0, 0, ratio, 0, 0);
    og.fillStyle = colour.panel;
    og.fillRect(0, 0, width, h);
    og.fillStyle = colour.dim;
    og.globalAlpha = 0.4;
    for (const m of data.messages) og.fillRect(overviewX(m.sent), h - 9, 1, 6);
    og.globalAlpha = 1;
    const rowH = Math.min(8, 26 / Math.max(1, clients));
    for (const l of data.leases) {
        og.fillStyle = colourOf(l.value, l.client);
        const a = overviewX(l.from);
        og.fillRect(a, 6 + l.client * rowH, Math.max(1.5, overviewX(Math.max(l.to, l.validTo)) - a), rowH - 2);
    }
    og.fillStyle = colour.fault;
    for (const f of data.faults) og.fillRect(overviewX(f.from), 1, 2, 4);
    if (data.violation !== null) {
        og.fillStyle = colour.bad;
        og.fillRect(overviewX(data.end) - 1.5, 0, 3, h);
    }
    const a = overviewX(Math.max(time(view.from), 0)),
        b = Math.max(overviewX(Math.min(time(view.to), last)), a + 3);
    og.fillStyle = colour.page;
    og.globalAlpha = 0.72;
    og.fillRect(0, 0, Math.max(0, a), h);
    og.fillRect(b, 0, width - b, h);
    og.globalAlpha = 1;
    og.strokeStyle = colour.ink;
    og.lineWidth = 1.5;
    og.strokeRect(a, 1, b - a, h - 2);
}

let asked = false;
function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
        asked = false;
        draw();
    });
}

function resize() {
    const ratio = devicePixelRatio || 1;
    width = scroll.clientWidth;
    layOut(scroll.clientHeight);
    width = scroll.clientWidth;
    for (const [c, h] of [
        [canvas, lanesHeight],
        [overview, 46]
    ]) {
        c.width = Math.round(width * ratio);
        c.height = Math.round(h * ratio);
        c.style.height = h + 'px';
    }
    redraw();
}
function repaint() {
    chooseColours();
    shades.clear();
    patterns = {fault: hatch(g, colour.fault), stale: hatch(g, colour.dim, 5), after: hatch(g, colour.line, 8)};
    drawWords();
    redraw();
}
