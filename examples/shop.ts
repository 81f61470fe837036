/** The products of the example vendors, the same in every framework. */

/** The prices of one report, of a long report, and of a pack of five forecasts. */
export const REPORT_PRICE = '$0.05';
export const LONG_REPORT_PRICE = '$0.50';
export const FORECASTS = { price: '$0.10', prepaid: { units: 5 } };

let runs = 0;
/**
 * A report of a city. For the city of Oops the first attempt of a delivery fails, which shows that
 * a failing handler costs the buyer nothing.
 */
export const reportOn = (
  city: string,
  deliveryId: string,
): { report: string; delivery_id: string; run: number } => {
  runs += 1;
  if (city === 'Oops' && !failed.has(deliveryId)) {
    failed.add(deliveryId);
    throw new Error('no report today');
  }
  return { report: `All is well in ${city}.`, delivery_id: deliveryId, run: runs };
};
const failed = new Set<string>();
