// Colours.
const dark = matchMedia('(prefers-color-scheme: dark)');
let colour = {};
function mix(a, b, share) {
    const parts = h => [1, 3, 5].map(i => parseInt(h.slice(i, i + 2), 16));
    const x = parts(a),
        y = parts(b);
    return (
        '#' +
        x
            .map((v, i) =>
                Math.round(v + (y[i] - v) * share)
                    .toString(16)
                    .padStart(2, '0')
            )
            .join('')
    );
}
function chooseColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['page', 'panel', 'ink', 'dim', 'line', 'lane', 'bad', 'bad-ink', 'bad-soft', 'fault', 'fault-soft', 'key'])
        colour[name] = style.getPropertyValue('--' + name).trim();
    colour.clients = dark.matches
        ? ['#64b4f4', '#f2a23c', '#4fd0a5', '#d995ee', '#d8d070']
        : ['#0a63ad', '#a85200', '#0a7455', '#85379c', '#6a6200'];
    colour.other = dark.matches ? '#97a1ac' : '#5d6770';
    colour.onBar = dark.matches ? '#11161b' : '#ffffff';
}
// Each attempt of a client has a shade of its own.
const shades = new Map();
function colourOf(value, fallback = null) {
    const key = value + '/' + fallback;
    if (shades.has(key)) return shades.get(key);
    const o = owner(value);
    const who = o ? o.client : fallback;
    let result = colour.other;
    if (who !== null && who !== undefined)
        result = mix(
            colour.clients[who % colour.clients.length],
            dark.matches ? '#ffffff' : '#000000',
            o ? [0.15, 0, 0.3][o.attempt % 3] : 0
        );
    shades.set(key, result);
    return result;
}
