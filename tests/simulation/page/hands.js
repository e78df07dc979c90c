// Mouse and keys.
function hitAt(px, py) {
    for (let i = hits.length - 1; i >= 0; --i) {
        const h = hits[i];
        if (h.box && px >= h.box[0] && px <= h.box[2] && py >= h.box[1] && py <= h.box[3] && h.item.kind !== 'fault') return h;
    }
    let best = null,
        nearest = 5;
    for (const h of hits) {
        if (!h.line) continue;
        const [ax, ay, bx, by] = h.line,
            dx = bx - ax,
            dy = by - ay;
        const share = Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
        const d = Math.hypot(px - ax - share * dx, py - ay - share * dy);
        if (d < nearest) {
            nearest = d;
            best = h;
        }
    }
    if (best) return best;
    return hits.findLast(h => h.box && px >= h.box[0] && px <= h.box[2] && py >= h.box[1] && py <= h.box[3]) ?? null;
}
function showTip(h, e) {
    const tip = $('tip');
    tip.hidden = !h;
    if (!h) return;
    const [head, ...lines] = h.tip();
    tip.replaceChildren(element('b', {}, head), ...lines.map(l => element('div', {}, l)));
    const box = tip.getBoundingClientRect();
    const right = e.clientX + 16 + box.width > innerWidth;
    tip.style.left = Math.max(4, right ? e.clientX - 14 - box.width : e.clientX + 16) + 'px';
    tip.style.top = Math.max(4, Math.min(e.clientY + 14, innerHeight - box.height - 6)) + 'px';
}
const at = e => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
};

let drag = null;
canvas.addEventListener('pointerdown', e => {
    if (e.button !== 0) return;
    const [px, py] = at(e);
    canvas.setPointerCapture(e.pointerId);
    if (e.shiftKey) selection = [px, px];
    else drag = {px, y: e.clientY, top: scroll.scrollTop, from: view.from, to: view.to};
    showTip(null);
});
canvas.addEventListener('pointermove', e => {
    const [px, py] = at(e);
    pointer = px >= gutter ? [px, py] : null;
    if (selection) {
        selection[1] = Math.max(px, gutter);
    } else if (drag) {
        canvas.classList.add('drags');
        const d = ((drag.px - px) / (width - gutter)) * (drag.to - drag.from);
        show_places(drag.from + d, drag.to + d);
        scroll.scrollTop = drag.top + drag.y - e.clientY;
    } else {
        const h = hitAt(px, py);
        hot = h;
        showTip(h, e);
    }
    redraw();
});
function letGo() {
    if (selection) {
        const [a, b] = [...selection].sort((p, q) => p - q).map(timeAt);
        if (Math.abs(selection[1] - selection[0]) > 4) show(a, b);
        selection = null;
    }
    drag = null;
    canvas.classList.remove('drags');
    redraw();
}
canvas.addEventListener('pointerup', letGo);
canvas.addEventListener('pointercancel', letGo);
canvas.addEventListener('pointerleave', () => {
    if (drag || selection) return;
    pointer = hot = null;
    showTip(null);
    redraw();
});
canvas.addEventListener('dblclick', e => {
    const [px, py] = at(e);
    const item = hitAt(px, py)?.item;
    if (item && item.from !== undefined && (item.to ?? item.from) > item.from) {
        const margin = (place(item.to) - place(item.from)) * 0.15;
        show_places(place(item.from) - margin, place(item.to) + margin);
    } else zoom(1 / 4, place(timeAt(px)));
});
function wheel(e) {
    e.preventDefault();
    const scale = e.deltaMode === 1 ? 30 : e.deltaMode === 2 ? 300 : 1;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
        return pan(((e.shiftKey && !e.deltaX ? e.deltaY : e.deltaX) * scale) / width);
    const px = Math.max(gutter, at(e)[0]);
    zoom(Math.exp(Math.max(-300, Math.min(300, e.deltaY * scale)) * (e.ctrlKey ? 0.01 : 0.0022)), place(timeAt(px)));
    showTip(null);
}
canvas.addEventListener('wheel', wheel, {passive: false});
overview.addEventListener(
    'wheel',
    e => {
        e.preventDefault();
        zoom(Math.exp(Math.sign(e.deltaY) * 0.25));
    },
    {passive: false}
);
function moveTo(e) {
    const px = e.clientX - overview.getBoundingClientRect().left;
    const share = (px - 8) / (width - 16);
    const t = timeOf(squeezedOf(0) + share * (squeezedOf(last) - squeezedOf(0)));
    const span = view.to - view.from;
    show_places(place(t) - span / 2, place(t) + span / 2);
}
overview.addEventListener('pointerdown', e => {
    overview.setPointerCapture(e.pointerId);
    overview.drags = true;
    moveTo(e);
});
overview.addEventListener('pointermove', e => {
    if (overview.drags) moveTo(e);
});
overview.addEventListener('pointerup', () => {
    overview.drags = false;
});
scroll.addEventListener('scroll', redraw);

const commands = {
    f: showAll,
    v: () => {
        if (data.violation !== null) showViolation();
    },
    n: () => step(1),
    p: () => step(-1),
    s: () => squeeze(!view.squeezed),
    m: () => {
        $('messages').checked = !$('messages').checked;
        redraw();
    },
    '+': () => zoom(1 / 1.6),
    '=': () => zoom(1 / 1.6),
    '-': () => zoom(1.6),
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    ArrowUp: () => zoom(1 / 1.6),
    ArrowDown: () => zoom(1.6),
    Home: () => {
        const s = view.to - view.from;
        show_places(place(0), place(0) + s);
    },
    End: () => {
        const s = view.to - view.from;
        show_places(place(busyUntil) - s, place(busyUntil));
    }
};
addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key.startsWith('Arrow') && $('side').contains(document.activeElement)) return;
    const command = commands[e.key];
    if (!command) return;
    e.preventDefault();
    command();
});
$('fit').addEventListener('click', showAll);
$('violation').addEventListener('click', showViolation);
$('violation').hidden = data.violation === null;
$('in').addEventListener('click', () => zoom(1 / 2));
$('out').addEventListener('click', () => zoom(2));
$('next').addEventListener('click', () => step(1));
$('back').addEventListener('click', () => step(-1));
$('squeeze').addEventListener('change', e => squeeze(e.target.checked));
$('messages').addEventListener('change', redraw);
dark.addEventListener('change', () => {
    repaint();
    colourMoments();
});
