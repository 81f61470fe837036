import encodeQR from 'qr';

/** Cameras need larger ones of so many modules in a row. */
const DENSE = 50;

/** A QR code of a text, as dark modules on white in every theme: cameras read no inverted ones. */
export const QrCode = ({ text, label }: { text: string; label: string }) => {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 2 });
  const modules = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      className="qr"
      data-dense={rows.length >= DENSE || undefined}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={label}
    >
      <path d={modules.join('')} />
    </svg>
  );
};
