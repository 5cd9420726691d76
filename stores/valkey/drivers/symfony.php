<?php
/** Valkey speaks Redis's protocol: the same driver. */

return require dirname(dirname(__DIR__)) . '/redis/drivers/symfony.php';
