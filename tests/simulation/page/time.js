// Time.
const instants = (() => {
    const all = [0, data.end];
    for (const m of data.messages) all.push(m.sent, m.arrived, m.answered, m.delivered, m.cut, ...m.haunted);
    for (const l of data.leases) all.push(l.from, l.letGo, l.ended, l.validTo);
    for (const k of data.keys) all.push(k.from, k.to);
    for (const f of data.faults) all.push(f.from, f.to);
    for (const n of data.notes) all.push(n.at);
    return Float64Array.from(new Set(all.filter(t => t !== null && Number.isFinite(t)))).sort();
})();
const last = instants.at(-1);
const busyUntil = instants.filter(t => t < data.end || data.violation !== null).at(-1) || data.end || 1;

// Gaps longer than this are squeezed: they grow with their logarithm only.
const gap = (() => {
    const gaps = [];
    for (const m of data.messages) if (m.delivered !== null) gaps.push(m.delivered - m.sent);
    gaps.sort((a, b) => a - b);
    return Math.max(1e5, gaps.length ? gaps[gaps.length >> 1] / 2 : 1e6);
})();
const places = new Float64Array(instants.length);
for (let i = 1; i < instants.length; ++i) {
    const d = instants[i] - instants[i - 1];
    places[i] = places[i - 1] + (d <= gap ? d : gap * (1 + 0.8 * Math.log(d / gap)));
}
function interpolate(xs, ys, x) {
    let low = 0,
        high = xs.length - 1;
    if (high === 0) return ys[0] + x - xs[0];
    if (x <= xs[0]) return ys[0] + (x - xs[0]);
    if (x >= xs[high]) return ys[high] + (x - xs[high]);
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (xs[middle] <= x) low = middle;
        else high = middle;
    }
    return ys[low] + ((ys[high] - ys[low]) * (x - xs[low])) / (xs[high] - xs[low]);
}
const squeezedOf = t => interpolate(instants, places, t);
const timeOf = s => interpolate(places, instants, s);

const view = {squeezed: false, from: 0, to: 1}; // in squeezed time if squeezed
const place = t => (view.squeezed ? squeezedOf(t) : t);
const time = p => (view.squeezed ? timeOf(p) : p);
const spanMin = 1e3;

function show(from, to) {
    // times
    show_places(place(from), place(to));
}
function show_places(from, to) {
    const all = place(last) - place(0);
    let span = Math.min(Math.max(to - from, spanMin), all * 1.3 + 1e4);
    let middle = (from + to) / 2;
    middle = Math.min(Math.max(middle, place(0)), place(last));
    view.from = middle - span / 2;
    view.to = middle + span / 2;
    redraw();
}
function squeeze(on) {
    const from = time(view.from),
        to = time(view.to);
    view.squeezed = on;
    $('squeeze').checked = on;
    show(from, to);
}
function zoom(factor, at = (view.from + view.to) / 2) {
    const span = Math.min(Math.max((view.to - view.from) * factor, spanMin), (place(last) - place(0)) * 1.3 + 1e4);
    const share = (at - view.from) / (view.to - view.from);
    show_places(at - share * span, at + (1 - share) * span);
}
const pan = share => {
    const d = share * (view.to - view.from);
    show_places(view.from + d, view.to + d);
};

function showAll() {
    const to = view.squeezed ? last : Math.max(busyUntil, 1e3);
    const extra = (place(to) - place(0)) * 0.02;
    show_places(place(0) - extra, place(to) + extra);
}
// So close that the moments around `t` can be told apart.
function showMoment(t, many = 14) {
    let i = 0;
    while (i < instants.length - 1 && instants[i] < t) ++i;
    const near = k => instants[Math.min(Math.max(k, 0), instants.length - 1)];
    const reach = Math.max(2e4, Math.min(Math.max(t - near(i - many), near(i + many) - t), 60 * gap));
    const span = view.squeezed ? place(t + reach) - place(t - reach) : 2 * reach;
    const shown = Math.min(view.to - view.from, span);
    show_places(place(t) - shown / 2, place(t) + shown / 2);
}
function showViolation() {
    const end = data.end;
    if (story.band) {
        view.squeezed = false;
        $('squeeze').checked = false;
        const wide = Math.max(story.band.to - story.band.from, 1);
        if (story.band.overlap) {
            // The second acquisition, and the first if it is not far. What follows need not be seen to its end.
            const {first, second} = story.band.overlap;
            const took = end - (second.attempt?.from ?? end - wide),
                since = end - (first.attempt?.from ?? first.from);
            const past = Math.min(Math.max((since < took * 10 ? since : took) * 1.25, 2e4), Math.max(wide * 12, 2e4));
            show(end - past, end + Math.min(wide * 1.3, past * 0.7));
        } else {
            show(story.band.from - wide * 0.6, end + wide * 0.25);
        }
    } else if (story.key) {
        view.squeezed = true;
        $('squeeze').checked = true;
        const from = place(story.key.from),
            to = place(end);
        show_places(from - (to - from) * 0.15, to + (to - from) * 0.12);
    } else {
        let i = instants.findIndex(t => t >= end);
        const from = instants[Math.max(0, i - 40)];
        show(from, end + (end - from) * 0.2);
    }
}
