<?php
/**
 * The shop in PHP, as a front controller that takes path and method from where frameworks take
 * them: behind IIS from X-Original-URL and X-Rewrite-URL, and from X-HTTP-Method-Override and
 * `_method`. PAGES: its texts by path, `/*` at an end for all below.
 */
$uri = $_SERVER['HTTP_X_ORIGINAL_URL'] ?? $_SERVER['HTTP_X_REWRITE_URL'] ?? $_SERVER['REQUEST_URI'];
$path = rawurldecode(explode('?', preg_replace('#^https?://[^/?]*#', '', $uri))[0]);
$method = $_SERVER['HTTP_X_HTTP_METHOD_OVERRIDE'] ?? $_POST['_method'] ?? $_SERVER['REQUEST_METHOD'];
if (str_contains($_SERVER['QUERY_STRING'] ?? '', 'slow')) usleep(150000);
header('Content-Type: text/plain');
foreach (json_decode(getenv('PAGES'), true) as $each => $text) {
    $isBelow = str_ends_with($each, '*') && str_starts_with($path, substr($each, 0, -1));
    if ($path !== $each && !$isBelow) continue;
    if ($each === '/items/1' && strtoupper($method) !== 'PUT') break;
    exit($text);
}
http_response_code(404);
echo 'nothing is here';
