// Each suite loads slonik anew, and slonik's logger adds an error listener to the output of the
// worker each time. Node would warn of a leak after ten suites.
process.stdout.setMaxListeners(0);
