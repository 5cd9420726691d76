<?php
/** Prints digests of what must be the same in every PHP: key sequences, a record. */

use Weighbridge\Draws;
use Weighbridge\Keys;
use Weighbridge\Process;
use Weighbridge\Record;
use Weighbridge\Request;

require dirname(dirname(__DIR__)) . '/lib/Process.php';
Process::begin('sequence');

$draws = new Draws('7 3');
$numbers = array();
for ($i = 0; $i < 1000; ++$i) {
    $numbers[] = (int) floor($draws->next() * 1e9);
}
$digests = array('draws' => sha1(implode(' ', $numbers)));
$kinds = array(
    'uniform' => array('kind' => 'uniform', 'count' => 1000),
    'zipf' => array('kind' => 'zipf', 'count' => 1000, 'exponent' => 0.99),
    'zipf-large' => array('kind' => 'zipf', 'count' => 200000, 'exponent' => 1.2),
);
foreach ($kinds as $name => $keys) {
    $fields = array('keys' => $keys, 'prefix' => 'p:', 'worker' => 1, 'workers' => 4, 'seed' => 42);
    $keys = new Keys(Request::parse(json_encode($fields)), true);
    $digests[$name] = sha1(implode(' ', $keys->sequence()));
}
ini_set('serialize_precision', '17');
$digests['record'] = sha1(serialize(Record::of(40)));
echo json_encode($digests), "\n";
