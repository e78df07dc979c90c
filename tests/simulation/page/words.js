'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);

// Words.
const trimmed = (n, digits) => {
    const t = n.toFixed(digits);
    return t.includes('.') ? t.replace(/\.?0+$/, '') : t;
};
const grouped = text => text.replace(/^(-?\d+)/, whole => whole.replace(/\B(?=(\d{3})+$)/g, '\u202f'));
// A moment: as exact as microseconds.
function moment(t) {
    const a = Math.abs(t);
    if (a >= 1e9) return grouped((t / 1e9).toFixed(6)) + ' s';
    return (t / 1e6).toFixed(3) + ' ms';
}
// A length of time: three digits or so.
function length(d) {
    const a = Math.abs(d);
    if (a >= 1e9) return grouped(trimmed(d / 1e9, a >= 1e11 ? 0 : a >= 1e10 ? 1 : 2)) + ' s';
    if (a >= 1e6) return trimmed(d / 1e6, a >= 1e8 ? 0 : a >= 1e7 ? 1 : 2) + ' ms';
    if (a >= 1e3) return trimmed(d / 1e3, a >= 1e5 ? 0 : 1) + ' µs';
    return Math.round(d) + ' ns';
}
const readable = text => text.replace(/\b(\d{4,}) ns\b/g, (all, n) => length(+n));
const client = i => 'client ' + i;
const server = i => 'server ' + i;
const fast = ppm => (ppm === 0 ? 'exact' : (ppm > 0 ? '+' : '−') + trimmed(Math.abs(ppm) / 1e4, 3) + ' %');
const listed = (what, set) => what + (set.length > 1 ? 's ' : ' ') + [...set].sort((a, b) => a - b).join(', ');
