import Sequencer from '@jest/test-sequencer';

/** Suites in an order that the seed of the round determines. */
export default class Shuffled extends Sequencer {
  sort(tests) {
    let state = Number(process.env.STRESS_SEED);
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state;
    };
    return tests
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map((test) => ({ test, place: random() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ test }) => test);
  }
}
