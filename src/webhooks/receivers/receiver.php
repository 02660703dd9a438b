<?php
$key = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
$body = file_get_contents('php://input');
[$id, $at, $given] = array_map(fn ($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '', ['ID', 'TIMESTAMP', 'SIGNATURE']);
$own = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $key, true));
$genuine = abs(time() - (int) $at) < 300 && array_filter(explode(' ', $given), fn ($one) => hash_equals($own, $one));
if ($genuine) error_log(json_decode($body)->type);
http_response_code($genuine ? 204 : 401);
