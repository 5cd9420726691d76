<?php
namespace Weighbridge;

/** One block of transactions: a driver, keys, a value and a mix, from the preparing to the cleaning up. */
final class Block
{
    /** This many transactions warm up; of slow ones as many as there are in WARM_UP_NS. */
    const WARM_UP = 200;
    const WARM_UP_STEP = 20;
    const WARM_UP_NS = 200000000;
    /** This many transactions tell what the loop itself takes; of slow ones as many as there are in OWN_NS. */
    const OWN = 20000;
    const OWN_STEP = 500;
    const OWN_NS = 50000000;

    private $driver;
    private $connection;
    private $keys;
    private $stored;
    private $loop;
    private $marshaller;
    private $timeout;
    private $transactions;
    private $rate;
    private $writeEvery;
    private $held;

    /** @throws Fault on a request that cannot be carried out; nothing is connected yet */
    public function __construct(Request $request, Drivers $drivers, Catalogue $catalogue)
    {
        $this->driver = $drivers->find($request->text('store'), $request->text('driver'));
        $this->driver->need();
        $this->timeout = (float) $request->number('timeout', 0.001);
        $this->transactions = (int) $request->number('transactions', 1);
        $this->writeEvery = (int) $request->number('write_every', 0);
        $this->rate = $request->has('rate') ? (float) $request->number('rate', 0.001) : null;
        $this->keys = new Keys($request, $this->driver->shared());
        if ($this->keys->areNew() && $this->writeEvery === 0) {
            throw new Fault('parameter', 'new keys are made by writes, and write_every is 0');
        }
        $this->stored = new Stored($request);
        // Few transactions meet few values; over a slow link more would take longer to fill than to measure.
        $this->keys->hold(min($this->stored->count(), max(1, (int) ($this->transactions / 2))));
        $encode = $request->partOrNull('encode');
        if ($encode !== null) {
            $this->marshaller = new Marshaller($encode, $catalogue, $this->stored->all());
        }
        $address = $request->map('address');
        $this->connection = new Connection($this->driver, $address, $this->timeout, $this->marshaller, $this->stored->kind());
    }

    /** @return array the reply to `prepare` */
    public function prepare()
    {
        try {
            $this->connection->open();
            foreach ($this->keys->share() as $number) {
                $this->connection->front()->put($this->keys->name($number), $this->stored->of($number));
            }
            $found = $this->readBack();
            $server = $this->connection->opened()->server();
        } catch (Fault $fault) {
            $said = $fault->describe() + array('remedy' => null);
            throw new Fault($fault->kind(), "{$this->driver->title()}: {$said['message']}", $said['remedy']);
        } catch (\Exception $error) {
            throw new Fault('response', "{$this->driver->title()}: {$error->getMessage()}");
        } catch (\Throwable $error) {
            throw new Fault('response', "{$this->driver->title()}: {$error->getMessage()}");
        }
        $before = memory_get_usage();
        $this->loop = new Loop($this->keys, $this->stored, $this->writeEvery);
        $this->loop->expectLike($found);
        $this->held = memory_get_usage() - $before + $this->stored->more();
        if (!$this->keys->areNew()) {
            $this->warmUp();
        }
        return array(
            'ready' => true,
            'library' => $this->driver->library(),
            'server' => $server,
            'stored_bytes' => $this->storedBytes(),
        );
    }

    /** @return array the reply to `go` */
    public function go()
    {
        if ($this->connection->front() === null) {
            throw new Fault('parameter', 'go after clean; prepare again');
        }
        gc_collect_cycles();
        $held = memory_get_usage();
        $tally = new Tally($this->timeout, $this->rate !== null);
        $held = $this->held + memory_get_usage() - $held;
        $this->resetMarshaller();
        $usage = getrusage();
        $memory = array('begin' => memory_get_usage());
        $began = microtime(true);
        $wall = hrtime(true);
        $schedule = $this->rate === null ? null : new Schedule($this->rate, $this->transactions);
        $this->loop->run($this->connection, $this->connection->front(), $tally, $this->transactions, $schedule);
        $wall = hrtime(true) - $wall;
        $ended = microtime(true);
        $memory['end'] = memory_get_usage();
        $memory += array('peak' => memory_get_peak_usage(), 'peak_real' => memory_get_peak_usage(true), 'own' => $held);
        return array(
            'began' => $began,
            'ended' => $ended,
            'seconds' => $wall / 1e9,
            'encode_ns' => $this->marshaller === null ? 0 : $this->marshaller->encodeNs,
            'decode_ns' => $this->marshaller === null ? 0 : $this->marshaller->decodeNs,
            'spin_ns' => $schedule === null ? 0 : $schedule->spun,
            'memory' => $memory,
        ) + self::used($usage, getrusage()) + $tally->describe() + array('own_ns' => $this->own());
    }

    /** @return array the reply to `clean` */
    public function clean()
    {
        if ($this->connection->opened() === null) {
            $this->connection->open();
        }
        $removed = 0;
        foreach ($this->keys->written($this->loop->sequence()) as $number) {
            if ($this->connection->opened()->remove($this->keys->name($number))) {
                ++$removed;
            }
        }
        $this->close();
        return array('removed' => $removed);
    }

    /** Closes the connection. */
    public function close()
    {
        $this->connection->close();
    }

    /** @return mixed what a read gave, after it was found to be what was written */
    private function readBack()
    {
        $number = 0;
        foreach ($this->keys->share() as $number) {
            break;
        }
        // New keys are not filled, and a large key space may leave a worker without a share: then one comes and goes.
        $filled = $this->keys->share()->valid();
        $key = $filled ? $this->keys->name($number) : $this->keys->name('probe:' . getmypid());
        if (!$filled) {
            $this->connection->front()->put($key, $this->stored->of($number));
        }
        $found = $this->connection->front()->get($key);
        if (!$filled) {
            $this->connection->opened()->remove($key);
        }
        if ($found === null || !$this->stored->matches($found, $number)) {
            $what = $found === null ? 'nothing' : 'another value (' . gettype($found) . ')';
            $what = $found instanceof Undecodable ? $found->reason : $what;
            throw new Fault('round-trip', "the first read gave $what instead of the value written just before");
        }
        return $found;
    }

    private function warmUp()
    {
        $tally = new Tally($this->timeout, false);
        $until = hrtime(true) + self::WARM_UP_NS;
        for ($done = 0; $done < self::WARM_UP && hrtime(true) < $until; $done += self::WARM_UP_STEP) {
            $this->loop->run($this->connection, $this->connection->front(), $tally, self::WARM_UP_STEP, null);
            if ($tally->aborted !== null) {
                throw new Fault('response', "{$this->driver->title()}: while warming up, {$tally->aborted}");
            }
        }
    }

    /** @return int|null the length of a value as the driver gets it, in the mean, where it gets a text */
    private function storedBytes()
    {
        $lengths = array();
        foreach ($this->stored->all() as $value) {
            $lengths[] = $this->storedLength($value);
        }
        return in_array(null, $lengths, true) ? null : (int) round(array_sum($lengths) / count($lengths));
    }

    private function storedLength($value)
    {
        if ($this->marshaller !== null) {
            return strlen($this->marshaller->encode($value));
        }
        if (!$this->driver->stores($this->stored->kind())) {
            return strlen(serialize($value));
        }
        return is_string($value) ? strlen($value) : null;
    }

    private function resetMarshaller()
    {
        if ($this->marshaller !== null) {
            $this->marshaller->encodeNs = 0;
            $this->marshaller->decodeNs = 0;
        }
    }

    /** @return int CPU nanoseconds a transaction, of the same transactions with a driver that does nothing */
    private function own()
    {
        list($loop, $idle) = $this->loop->idle();
        $tally = new Tally($this->timeout, false);
        $before = getrusage();
        $until = hrtime(true) + self::OWN_NS;
        for ($done = 0; $done < self::OWN && hrtime(true) < $until; $done += self::OWN_STEP) {
            $loop->run(null, $idle, $tally, self::OWN_STEP, null);
        }
        $used = self::used($before, getrusage());
        return (int) round(($used['cpu_user_ns'] + $used['cpu_system_ns']) / $done);
    }

    /** @return array of what getrusage() said before and after: CPU nanoseconds and context switches */
    private static function used(array $before, array $after)
    {
        $spent = function ($field) use ($before, $after) {
            $seconds = $after["$field.tv_sec"] - $before["$field.tv_sec"];
            return $seconds * 1000000000 + ($after["$field.tv_usec"] - $before["$field.tv_usec"]) * 1000;
        };
        return array(
            'cpu_user_ns' => $spent('ru_utime'),
            'cpu_system_ns' => $spent('ru_stime'),
            'voluntary' => $after['ru_nvcsw'] - $before['ru_nvcsw'],
            'involuntary' => $after['ru_nivcsw'] - $before['ru_nivcsw'],
        );
    }
}
