const { PATH, NODE_COMPILE_CACHE } = process.env;

/**
 * What a process under test inherits: its configuration comes from the test alone, and Node keeps
 * its compiled code in one folder for all of them (jest.config.js).
 */
export const inherited = { PATH, NODE_COMPILE_CACHE };
