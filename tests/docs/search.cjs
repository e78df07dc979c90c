// The order in which the site's search shows what it finds.
//
//   node search.cjs    exits with 1 and what is wrong
const assert = require('node:assert');
const { prepare, find, excerpt } = require('../../docs/site/search.js');

const pages = [
  ['performance.html', 'Performance', 'Performance', 'Each run took 30 seconds; 30 s each. 300 seconds. 30 seconds again, 30 seconds.'],
  ['fencing.html#q', 'Quarantine', 'Fencing tokens', 'A node without data is quarantined for 30 s.'],
  ['a.html', 'Other', 'Other', '300 s, and then 30 nodes for one second.'],
];
const found = (text) => find(prepare(pages), text).map((section) => section.address);

assert.deepEqual(found('30 seconds'), ['fencing.html#q', 'performance.html'], 'a number belongs to its unit, however it is written; figures come last');
assert.deepEqual(found('30 s'), found('30 seconds'));
assert.deepEqual(found('quarant'), ['fencing.html#q'], 'the beginning of a word');
assert.deepEqual(found('performance'), ['performance.html']);
assert.deepEqual(found('30 lemons'), [], 'all words');
assert.deepEqual(found(' '), []);
assert.match(excerpt(prepare(pages)[1], '30 seconds'), /quarantined for 30 s/);
