// Jest runs the same type stripping as Node does: no Babel, no second compiler that could disagree.
import { stripTypeScriptTypes } from 'node:module';

export default {
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
};
