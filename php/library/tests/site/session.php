<?php

declare(strict_types=1);

use Weighbridge\Library\Session\EncodedSessionHandler;

require __DIR__ . '/../../autoload.php';

session_save_path((string) getenv('WEIGHBRIDGE_SESSIONS'));
session_set_save_handler(new EncodedSessionHandler(), true);
session_start();
if (isset($_GET['end'])) {
    session_destroy();
    return;
}
if (!isset($_GET['read'])) {
    $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
    $_SESSION['more'] = str_repeat('some words ', 300);
}
echo session_id(), ' ', $_SESSION['count'];
