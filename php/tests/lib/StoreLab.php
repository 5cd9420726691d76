<?php
/** What the cases of client workers work with: workers and blocks. */
final class StoreLab
{
    const PREFIX = 'weigh:test:';

    private $lab;
    private $worker;
    private $drivers;

    public function __construct(Lab $lab)
    {
        $this->lab = $lab;
    }

    /** @return Client a new client worker; of the files in that folder, where one is given */
    public function start($source = null)
    {
        $settings = array('-d', 'apc.enable_cli=1');
        return $this->lab->start($source ?: dirname(dirname(__DIR__)), $settings, 'client.php');
    }

    /** @return array a driver's entry in the description */
    public function driver($store, $name)
    {
        if ($this->drivers === null) {
            $this->worker = $this->start();
            $this->drivers = $this->worker->ask(array('id' => 1, 'op' => 'describe'))['drivers'];
            $this->worker->end();
        }
        foreach ($this->drivers as $driver) {
            if ($driver['store'] === $store && $driver['name'] === $name) {
                return $driver;
            }
        }
        throw new Failure("no driver $store/$name is described");
    }

    /** Skips unless the driver can be used in the PHP under test. */
    public function need($store, $name)
    {
        $this->lab->need($this->driver($store, $name));
    }

    /** @return array a request to prepare a block, with whatever is to be otherwise */
    public static function prepare($store, $driver, array $address, array $other = array())
    {
        return $other + array(
            'id' => 2, 'op' => 'prepare', 'store' => $store, 'driver' => $driver, 'address' => (object) $address,
            'timeout' => 5.0, 'value' => array('kind' => 'integer'), 'encode' => null, 'keys' => array('kind' => 'one'),
            'prefix' => self::PREFIX, 'worker' => 0, 'workers' => 1, 'seed' => 1, 'transactions' => 400,
            'write_every' => 10, 'rate' => null,
        );
    }

    /**
     * @param callable|null $begin is called between prepare and go
     *
     * @return array the replies to prepare and go of a block that is expected to be whole; and to clean
     */
    public function block(array $prepare, $begin = null)
    {
        $client = $this->start();
        $ready = $client->ask($prepare);
        Failure::unless(isset($ready['ready']), 'prepare: ' . json_encode($ready));
        if ($begin !== null) {
            $begin();
        }
        $went = $client->ask(array('id' => 3, 'op' => 'go'));
        Failure::unless(!isset($went['fault']), 'go: ' . json_encode($went));
        $clean = $client->ask(array('id' => 4, 'op' => 'clean'));
        list($code, $rest, $errors) = $client->end();
        Failure::unlessSame(array(0, '', ''), array($code, $rest, $errors), 'exit code, rest of stdout, stderr');
        return array($ready, $went, $clean);
    }

    /** @return array a value of the kind `text` or `value` for a request */
    public function value($kind, $bytes)
    {
        return array('kind' => $kind, 'blob' => $this->lab->folder->file($bytes), 'sha256' => hash('sha256', $bytes));
    }

    /** Fails unless the figures of a block fit one another. */
    public static function unlessConsistent(array $went, $transactions)
    {
        $sent = $went['writes']['count'] + $went['reads']['count'];
        if ($went['aborted'] === null) {
            Failure::unlessSame($transactions, $sent + $went['dropped'], 'transactions sent and dropped');
        }
        $reads = $went['reads'];
        Failure::unlessSame($reads['count'], $reads['failed'] + $reads['hits'] + $reads['misses'], 'reads');
        $timed = array($went['writes']['count'] - $went['writes']['failed'], $reads['count'] - $reads['failed']);
        Failure::unlessSame($timed, array($went['put']['count'], $went['get']['count']), 'times of what did not fail');
        foreach (array('put', 'get', 'put_response', 'get_response') as $name) {
            $histogram = $went[$name];
            if ($histogram !== null) {
                self::unlessHistogram($histogram, $name);
            }
        }
        Failure::unless($went['ended'] >= $went['began'] && $went['own_ns'] > 0, 'the clocks: ' . json_encode($went));
        Failure::unless($went['memory']['peak'] >= $went['memory']['end'], 'memory: ' . json_encode($went['memory']));
    }

    private static function unlessHistogram(array $histogram, $name)
    {
        $count = 0;
        $sum = 0.0;
        $before = 0;
        foreach ($histogram['bins'] as $bin) {
            list($middle, $n) = $bin;
            Failure::unless($middle > $before && is_int($middle) && $n > 0, "$name: bin $middle after $before");
            $before = $middle;
            $count += $n;
            $sum += $middle * $n;
        }
        Failure::unlessSame($histogram['count'], $count, "$name: the bins' counts");
        // Half a bin each, on average: 64 ns, or 1/512 above a millisecond.
        $most = $histogram['count'] * 64 + $histogram['sum'] / 512;
        Failure::unless(abs($sum - $histogram['sum']) <= $most, "$name: the bins' sum $sum is not {$histogram['sum']}");
    }
}
