/**
 * A small assembler and linker for programs of Solana, so that tests bring their own programs to
 * the local chain without a compiler. It writes the oldest version of the format, which every node
 * runs.
 */

/** An instruction of the virtual machine: eight bytes. */
const word = (opcode: number, { dst = 0, src = 0, offset = 0, value = 0 } = {}): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt8(opcode, 0);
  bytes.writeUInt8(dst | (src << 4), 1);
  bytes.writeInt16LE(offset, 2);
  bytes.writeInt32LE(value, 4);
  return bytes;
};

/** Registers are numbers: 0 has the result, 1 to 5 the arguments, 6 to 9 survive a call. */
export const asm = {
  /** dst = a 64-bit constant */
  constant: (dst: number, value: bigint): Buffer => {
    const bits = BigInt.asUintN(64, value);
    const part = (shift: bigint) => Number(BigInt.asIntN(32, bits >> shift));
    return Buffer.concat([word(0x18, { dst, value: part(0n) }), word(0, { value: part(32n) })]);
  },
  /** dst = src */
  copy: (dst: number, src: number) => word(0xbf, { dst, src }),
  /** dst += value */
  add: (dst: number, value: number) => word(0x07, { dst, value }),
  /** dst += src */
  addRegister: (dst: number, src: number) => word(0x0f, { dst, src }),
  /** dst &= value, of which the sign continues */
  and: (dst: number, value: number) => word(0x57, { dst, value }),
  /** dst *= value */
  multiply: (dst: number, value: number) => word(0x27, { dst, value }),
  /** dst = the 8 bytes at src + offset */
  load: (dst: number, src: number, offset = 0) => word(0x79, { dst, src, offset }),
  /** dst = the byte at src + offset */
  loadByte: (dst: number, src: number, offset = 0) => word(0x71, { dst, src, offset }),
  /** the 8 bytes at dst + offset = src */
  store: (dst: number, src: number, offset = 0) => word(0x7b, { dst, src, offset }),
  /** Skips instructions if dst has this value. */
  skipIf: (dst: number, value: number, instructions: number) =>
    word(0x15, { dst, value, offset: instructions }),
  /** Calls the only system call of the program. */
  call: () => word(0x85, { value: -1 }),
  exit: () => word(0x95),
};

const CALL = 0x85;
const HEADER = 64;
const PROGRAM_HEADER = 56;
const SECTION_HEADER = 64;
/** A relocation whose target is the name of a system call. */
const OF_CALL = 10n;

const numbers = (...values: (number | bigint)[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index);
  return bytes;
};

type Section = { name: string; type: number; flags: number; link?: number; entry?: number; body: Buffer };

/** The sections by which a loader finds the system call of each call instruction. */
const dynamicSections = (text: Buffer, systemCall: string, at: (name: string) => number): Section[] => {
  const names = Buffer.from(`\0${systemCall}\0`);
  const symbol = Buffer.alloc(24);
  symbol.writeUInt32LE(1, 0);
  symbol.writeUInt8(0x10, 4);
  const calls: number[] = [];
  for (let index = 0; index < text.length; index += 8) if (text[index] === CALL) calls.push(index);
  const relocations = calls.map((index) => numbers(at('.text') + index, (1n << 32n) | OF_CALL));
  const tags: [number, number][] = [
    [17, at('.rel.dyn')],
    [18, 16 * calls.length],
    [19, 16],
    [6, at('.dynsym')],
    [11, 24],
    [5, at('.dynstr')],
    [10, names.length],
    [0, 0],
  ];
  return [
    { name: '.dynamic', type: 6, flags: 3, link: 4, entry: 16, body: numbers(...tags.flat()) },
    {
      name: '.dynsym',
      type: 11,
      flags: 2,
      link: 4,
      entry: 24,
      body: Buffer.concat([Buffer.alloc(24), symbol]),
    },
    { name: '.dynstr', type: 3, flags: 2, body: names },
    { name: '.rel.dyn', type: 9, flags: 2, link: 3, entry: 16, body: Buffer.concat(relocations) },
  ];
};

const aligned = (value: number): number => Math.ceil(value / 8) * 8;

/** Where each section begins, in the file and in memory. */
const placesOf = (sections: readonly Section[], start: number): Map<string, number> => {
  const places = new Map<string, number>();
  let place = start;
  for (const { name, body } of sections) {
    places.set(name, place);
    place = aligned(place + body.length);
  }
  return places;
};

const programHeader = (type: number, flags: number, place: number, length: number): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(type, 0);
  head.writeUInt32LE(flags, 4);
  return Buffer.concat([head, numbers(place, place, place, length, length, 8)]);
};

const sectionHeader = (name: number, section: Section, place: number): Buffer => {
  const { type, flags, link = 0, entry = 0, body } = section;
  const bytes = Buffer.alloc(SECTION_HEADER);
  bytes.writeUInt32LE(name, 0);
  bytes.writeUInt32LE(type, 4);
  // The names of the sections are in the file only.
  numbers(flags, flags === 0 ? 0 : place, place, body.length).copy(bytes, 8);
  bytes.writeUInt32LE(link, 40);
  numbers(8, entry).copy(bytes, 48);
  return bytes;
};

const fileHeader = (
  entry: number,
  { headers, sections }: { headers: number; sections: number },
  at: number,
) => {
  const bytes = Buffer.alloc(HEADER);
  Buffer.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1).copy(bytes);
  bytes.writeUInt16LE(3, 16);
  bytes.writeUInt16LE(247, 18);
  bytes.writeUInt32LE(1, 20);
  numbers(entry, HEADER, at).copy(bytes, 24);
  for (const [index, value] of [
    HEADER,
    PROGRAM_HEADER,
    headers,
    SECTION_HEADER,
    sections,
    sections - 1,
  ].entries())
    bytes.writeUInt16LE(value, 52 + 2 * index);
  return bytes;
};

/**
 * Links instructions to a program.
 * @param systemCall that the instructions call. Default: they call none
 */
export const linkProgram = (instructions: readonly Buffer[], systemCall?: string): Buffer => {
  const text = Buffer.concat(instructions);
  const sectionsAt = (at: (name: string) => number): Section[] => {
    const found: Section[] = [
      { name: '.text', type: 1, flags: 6, body: text },
      ...(systemCall === undefined ? [] : dynamicSections(text, systemCall, at)),
    ];
    const names = ['', ...found.map(({ name }) => name), '.shstrtab'].map((name) => `${name}\0`).join('');
    return [...found, { name: '.shstrtab', type: 3, flags: 0, body: Buffer.from(names) }];
  };
  const headers = systemCall === undefined ? 1 : 3;
  const start = HEADER + PROGRAM_HEADER * headers;
  const places = placesOf(
    sectionsAt(() => 0),
    start,
  );
  const at = (name: string): number => places.get(name)!;
  const sections = sectionsAt(at);
  const names = sections.at(-1)!.body;
  const end = aligned(at('.shstrtab') + names.length);
  const file = Buffer.alloc(end + SECTION_HEADER * (sections.length + 1));
  fileHeader(at('.text'), { headers, sections: sections.length + 1 }, end).copy(file);
  const loaded = [programHeader(1, 5, at('.text'), text.length)];
  if (systemCall !== undefined) {
    const dynamic = sections[1]!.body.length;
    loaded.push(programHeader(1, 6, at('.dynamic'), at('.shstrtab') - at('.dynamic')));
    loaded.push(programHeader(2, 6, at('.dynamic'), dynamic));
  }
  Buffer.concat(loaded).copy(file, HEADER);
  for (const [index, section] of sections.entries()) {
    section.body.copy(file, at(section.name));
    const name = names.indexOf(`${section.name}\0`);
    sectionHeader(name, section, at(section.name)).copy(file, end + SECTION_HEADER * (index + 1));
  }
  return file;
};
