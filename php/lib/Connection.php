<?php
namespace Weighbridge;

/** The way of one worker to its store: opened, with what encodes values before it, and made again when it broke. */
final class Connection
{
    /** A broken connection is made again at most so often. */
    const PAUSE_NS = 10000000;

    private $driver;
    private $address;
    private $timeout;
    private $options;
    private $serialize;
    private $opened;
    private $front;
    private $latest;

    /**
     * @param array           $address    as the request has it
     * @param float           $timeout    seconds
     * @param Marshaller|null $marshaller what encodes values, where that was asked for
     * @param string          $kind       of the values
     */
    public function __construct(Driver $driver, array $address, $timeout, $marshaller, $kind)
    {
        $this->driver = $driver;
        $this->address = $address;
        $this->timeout = $timeout;
        $this->options = array('encoded' => $marshaller !== null, 'marshaller' => $marshaller);
        $this->serialize = $marshaller === null && !$driver->stores($kind);
    }

    /** Connects. */
    public function open()
    {
        $this->latest = hrtime(true);
        $this->opened = $this->driver->open($this->address, $this->timeout, $this->options);
        $this->front = $this->opened;
        if ($this->serialize) {
            $this->front = new Serialized($this->opened);
        } elseif ($this->options['encoded'] && !$this->driver->marshals()) {
            $this->front = new Marshalled($this->opened, $this->options['marshaller']);
        }
    }

    /** @return object put() and get() of values */
    public function front()
    {
        return $this->front;
    }

    /** @return object the driver's own, for what is not a transaction */
    public function opened()
    {
        return $this->opened;
    }

    /**
     * After a failed transaction.
     *
     * @param \Exception|\Throwable $error a Fault: the store answered, and the connection goes on
     * @return object what the next transaction goes to
     */
    public function after($error)
    {
        if ($error instanceof Fault) {
            return $this->front;
        }
        $this->close();
        $pause = self::PAUSE_NS - (hrtime(true) - $this->latest);
        if ($pause > 0) {
            usleep((int) ceil($pause / 1000));
        }
        try {
            $this->open();
        } catch (\Exception $again) {
            $this->front = new Down($again->getMessage());
        } catch (\Throwable $again) {
            $this->front = new Down($again->getMessage());
        }
        return $this->front;
    }

    /** Closes what is open; a broken connection may refuse even that. */
    public function close()
    {
        if ($this->opened === null) {
            return;
        }
        try {
            $this->opened->close();
        } catch (\Exception $error) {
            unset($error);
        } catch (\Throwable $error) {
            unset($error);
        }
        $this->opened = null;
        $this->front = null;
    }
}
