/**
 * Phrases that native readers stumbled over, each with what to write instead. The list grows: a
 * phrase that a reader has to read twice is added here, not only changed where it stands.
 */
const BANNED: readonly (readonly [phrase: RegExp, better: string])[] = [
  [/\bgo(es|ing)? on\b/i, 'continue'],
  [/\bbegun\b/i, 'started'],
  [/\bmade\b/i, 'created, sent, paid'],
  [/\bever\b/i, 'in total, at any time'],
  [/^(its( [a-z]+){0,3}|it)$/i, 'name the thing: “Service key”, not “Its key”'],
  [/^(it|they) (calls? (it|them)sel(f|ves)|asked)\b/i, 'name the thing'],
  [/\bof its own\b/i, 'own, separate'],
  [/\bon (its|their) way\b/i, 'sent, pending'],
  [/\bpresent (key|address|payout)\b/i, 'current'],
  [/\bprevious key\b/i, 'old key'],
  [/\bfor good\b/i, 'cannot be reversed'],
  [/\bas they happen\b/i, 'live'],
  [/\bwaits for\b/i, 'needs, awaiting'],
  [/\bnobody\b|\banybody\b/i, 'say who can, or cannot'],
  [/\bthe platform\b/i, 'Quittance'],
  [/\bnot real\b/i, 'Test mode: no real money'],
  [/\bthere is no \w+ environment\b/i, 'nothing'],
  [/\bthat did not work\b/i, 'the cause'],
  [/\bto the start page\b/i, 'Go to Home'],
  [/\bat a glance\b/i, 'Details, Overview'],
  [/\bin most cases\b/i, 'most likely'],
  [/\bwho takes part\b/i, 'Set up'],
  [/\b(run|all of) (the rest|it)\b/i, 'the remaining …, Max'],
  [/\bthemselves\b/i, 'name the thing'],
  [/\bis answered\b/i, 'say who answers'],
  [/\bfresh sign-in\b/i, 'recent sign-in'],
  [/\blimit used up\b/i, 'over the … limit'],
  [/\bhow things stand\b/i, 'status'],
  [
    /^(story|names|documents|into|made|begun|bought|colours?:.*|decide|up to|anybody|looking…)$/i,
    'a label of the trade',
  ],
  [
    /^(create|rotate|delete|close|submit|prepare|sign|install) it( now| again)?$/i,
    'name the object: “Create service”',
  ],
  [/\bI have (it|stored it)\b/i, 'I saved it'],
  [/\bevery sale\b|^you get$/i, 'All sales, Net'],
];

/** The phrases of a text that are banned, as sentences for its author. */
export const bannedIn = (text: string): string[] =>
  BANNED.filter(([phrase]) => phrase.test(text)).map(
    ([phrase, better]) => `“${text}”: instead of “${phrase.exec(text)![0]}” write: ${better}`,
  );
