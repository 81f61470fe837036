import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type AlterTableCmd, type Node, parse } from 'libpg-query';
import { z } from 'zod';

/**
 * Migrations run before the services of their release start, while those of the previous release
 * still run. A migration may therefore add what the older services do not read, remove only what no
 * service of the previous release uses, and hold no lock while it reads or writes a whole table.
 * squawk knows the statements that break this. What it does not know is refused unless it is on the
 * lists of this file (docs/adr/0091-migrations-are-fixed.md).
 */
const { getBinaryPath } = createRequire(import.meta.url)('squawk-cli/js/index.js') as {
  getBinaryPath: () => string;
};

/** The oldest Postgres that runs the migrations. */
const POSTGRES = '18.0';

/**
 * What is no danger here: the runner sets the timeout, a column without `not null` refuses nothing,
 * and the widths and kinds of columns are a matter of taste.
 */
const EXCLUDED = [
  'require-lock-timeout',
  'require-statement-timeout',
  'ban-drop-not-null',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-text-field',
];

/** Findings about what older services use. `-- contract: <release>` says that they do not. */
const REMOVING = new Set(['ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table']);

const Found = z.array(
  z.object({
    line: z.int(),
    column: z.int(),
    rule_name: z.string(),
    message: z.string(),
    help: z.string().nullable(),
  }),
);
type Finding = { at: number; rule: string; why: string };

/** A line is counted from 0, and a place in bytes, as the parser counts. */
const placeOf = (text: string, line: number, column: number): number =>
  Buffer.byteLength(`${text.split('\n').slice(0, line).join('\n')}\n`) - (line === 0 ? 1 : 0) + column;

const squawk = (text: string, inTransaction: boolean): Finding[] => {
  const { status, stdout, stderr } = spawnSync(
    getBinaryPath(),
    [
      '--reporter=json',
      '--stdin-filepath=migration.sql',
      `--pg-version=${POSTGRES}`,
      `--exclude=${[...EXCLUDED, ...(inTransaction ? ['prefer-robust-stmts'] : [])].join()}`,
      ...(inTransaction ? ['--assume-in-transaction'] : []),
    ],
    { input: text, encoding: 'utf8' },
  );
  if (stdout === '') throw new Error(`squawk ended with ${status}: ${stderr}`);
  return Found.parse(JSON.parse(stdout)).map(({ line, column, rule_name, message, help }) => ({
    at: placeOf(text, line, column),
    rule: rule_name,
    why: [message, help].filter(Boolean).join(' '),
  }));
};

const USES = 'removes or narrows what older services may use';

/** What adds something, and runs at once. squawk looks into the statements. */
const ADDING = [
  'CommentStmt',
  'CreateEnumStmt',
  'CreateFunctionStmt',
  'CreateSeqStmt',
  'CreateStmt',
  'CreateTrigStmt',
  'IndexStmt',
  'InsertStmt',
  'ViewStmt',
];
const ADDING_CLAUSES = [
  'AT_AddColumn',
  'AT_AddConstraint',
  'AT_DropNotNull',
  'AT_SetRelOptions',
  'AT_SetStatistics',
  'AT_ValidateConstraint',
];
const REMOVING_STATEMENTS = ['DropStmt', 'RenameStmt'];
const REMOVING_CLAUSES = ['AT_DropColumn', 'AT_DropConstraint'];

/** Why a clause of `alter table` is refused. */
const refusedClause = (
  clause: AlterTableCmd,
  all: readonly AlterTableCmd[],
): [rule: string, why: string] | null => {
  const { subtype, def } = clause;
  // A wider check replaces the narrower one in one statement.
  const replaces = all.some((each) => each.subtype === 'AT_AddConstraint');
  if (subtype === 'AT_DropConstraint' && replaces) return null;
  if (subtype === 'AT_ColumnDefault') return def === undefined ? ['older-services', USES] : null;
  if (REMOVING_CLAUSES.includes(subtype!)) return ['older-services', USES];
  if (subtype === 'AT_AddConstraint' && 'Constraint' in def! && def.Constraint.contype === 'CONSTR_NOTNULL')
    return ['older-services', 'refuses rows that older services write'];
  if (subtype === 'AT_AddColumn' && 'ColumnDef' in def!)
    return def.ColumnDef.constraints?.some(
      (each) => 'Constraint' in each && each.Constraint.contype === 'CONSTR_CHECK',
    )
      ? [
          'inline-check',
          'reads the whole table under a lock: add the check as not valid, and validate it in the next file',
        ]
      : null;
  // squawk has a finding for these two, which says what to do.
  if (ADDING_CLAUSES.includes(subtype!) || subtype === 'AT_AlterColumnType' || subtype === 'AT_SetNotNull')
    return null;
  return ['not-listed', `${subtype} is no clause that a migration may have`];
};

/** Why a statement of a transaction is refused. */
const refusedStatement = (statement: Node): [rule: string, why: string][] => {
  const [kind] = Object.keys(statement) as [string];
  if ('AlterTableStmt' in statement) {
    const clauses = (statement.AlterTableStmt.cmds ?? []).flatMap((each) =>
      'AlterTableCmd' in each ? [each.AlterTableCmd] : [],
    );
    return clauses.flatMap((each) => {
      const refused = refusedClause(each, clauses);
      return refused === null ? [] : [refused];
    });
  }
  if ('IndexStmt' in statement && statement.IndexStmt.concurrent)
    return [['not-alone', 'refuses a transaction: begin a file of its own with `-- no transaction`']];
  if (ADDING.includes(kind) && !/"(Update|Delete|Merge)Stmt"/.test(JSON.stringify(statement))) return [];
  if (REMOVING_STATEMENTS.includes(kind)) return [['older-services', USES]];
  if (kind === 'UpdateStmt' || kind === 'DeleteStmt' || kind === 'InsertStmt')
    return [
      [
        'not-in-batches',
        'locks all rows that it changes until it ends: write it `-- in batches`, in a file of its own',
      ],
    ];
  return [['not-listed', `${kind} is no statement that a migration may have`]];
};

/** Why the only statement of a file without a transaction is refused. */
const refusedAlone = (statement: Node): [rule: string, why: string][] => {
  if ('IndexStmt' in statement && statement.IndexStmt.concurrent) return [];
  if ('DropStmt' in statement && statement.DropStmt.concurrent) return [['older-services', USES]];
  return [['not-alone', 'runs in a transaction: remove `-- no transaction`']];
};

/** The same for a file that is repeated: it walks over the keys of a table. */
const refusedBatch = (statement: Node): [rule: string, why: string][] => {
  const tree = JSON.stringify(statement);
  if (!['"ParamRef"', '"limitCount"', '"SelectStmt"'].every((part) => tree.includes(part)))
    return [['no-batch', 'must change rows after the key $1 up to a limit, and return the last key']];
  return tree.includes('"DeleteStmt"') ? [['older-services', USES]] : [];
};

/**
 * What would break the services of the previous release, or stop them.
 * @param releases the existing releases. `-- contract: <release>` above a statement declares that
 *   this release no longer used what it removes.
 * @returns a line for each finding
 */
export const findingsIn = async (text: string, releases: readonly string[]): Promise<string[]> => {
  const mode = /^-- (no transaction|in batches)\b/.exec(text)?.[1];
  const bytes = Buffer.from(text);
  let end = 0;
  const statements = ((await parse(text)).stmts ?? []).map(({ stmt, stmt_location = 0, stmt_len = 0 }) => {
    // With the comments above it, which follow the statement before.
    const from = end === 0 ? 0 : end + 1;
    end = stmt_len === 0 ? bytes.length : stmt_location + stmt_len;
    return { statement: stmt!, from, to: end };
  });
  if (mode !== undefined && statements.length !== 1)
    return [`-- ${mode}: such a file has one statement, because it is repeated after an interruption`];
  const refused = mode === undefined ? refusedStatement : mode === 'in batches' ? refusedBatch : refusedAlone;
  const ours = statements.flatMap(({ statement, from }) =>
    refused(statement).map(([rule, why]): Finding => ({ at: from, rule, why })),
  );
  // squawk and the lists find the same removal.
  const theirs = squawk(text, mode !== 'no transaction').filter(({ rule }) => !REMOVING.has(rule));
  return [...ours, ...theirs].flatMap(({ at, rule, why }) => {
    const { from, to } = statements.find((each) => at < each.to)!;
    const statement = bytes.subarray(from, to).toString();
    const contract = /^\s*--\s*contract:\s*(\S+)/m.exec(statement)?.[1];
    if (rule === 'older-services' && contract !== undefined && releases.includes(contract)) return [];
    const code = statement.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
    return [`${code.slice(0, 80)}: ${rule}: ${why}`];
  });
};

/** The releases that this tree continues, the newest first. Without a history there is none. */
export const releasesOf = (root: string): string[] => {
  const args = ['tag', '--merged', 'HEAD', '--sort=-v:refname', '--list', 'v*'];
  try {
    const tags = execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return tags.split('\n').filter(Boolean);
  } catch {
    return [];
  }
};

export const MIGRATIONS = '{services,shared}/*/migrations/*.sql';

/** The findings in all migrations of a tree. The first of each folder runs before any service. */
export const findingsOf = async (root: string): Promise<string[]> => {
  const releases = releasesOf(root);
  const later = globSync(MIGRATIONS, { cwd: root }).filter(
    (file) => !path.basename(file).startsWith('0001_'),
  );
  const findings: string[] = [];
  for (const file of later.sort())
    for (const finding of await findingsIn(readFileSync(path.join(root, file), 'utf8'), releases))
      findings.push(`${file}: ${finding}`);
  return findings;
};

if (import.meta.main) {
  const findings = await findingsOf(path.resolve(import.meta.dirname, '..'));
  for (const finding of findings) console.error(finding);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
