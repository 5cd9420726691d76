<?php
namespace Weighbridge;

/**
 * One way to a store, from the array that its file in stores/STORE/drivers/ returns.
 *
 *     about     one line: what it is, and with which settings
 *     library   closure to the library's name and version, or to null
 *     missing   closure to null, or to why it cannot be used here: a text, or a Fault that has the remedy too
 *     remedy    optional: what would fix it, where `missing` gives a text
 *     schemes   how the store is reached: unix, tcp; none for one inside the process
 *     native    the kinds of value that it stores as they are: integer, text, record, value
 *     shared    whether all processes see one store
 *     marshals  optional: true where it serializes and encodes by itself: the encoding asked for is then its own affair
 *     open      closure(array $address, $timeout, array $options) to an object with put($key, $value), get($key) (the
 *               value, or null when there is none), remove($key) (whether it was there), server() (its version, or
 *               null) and close(). The options are `encoded` (whether values come encoded) and, for one that marshals,
 *               `marshaller` (a Marshaller, or null for the driver's own ways).
 *
 * put() and get() throw on every failure with the store's own message: a Fault where the store answered and the
 * connection can go on, any other exception where it has to be made again.
 */
final class Driver
{
    private $store;
    private $name;
    private $spec;

    /** @throws Fault when the array lacks something */
    public function __construct($store, $name, array $spec)
    {
        $lacking = array_diff(array('about', 'library', 'missing', 'schemes', 'native', 'shared', 'open'), array_keys($spec));
        if ($lacking) {
            throw new Fault('missing', 'its array lacks ' . implode(', ', $lacking));
        }
        $this->store = $store;
        $this->name = $name;
        $this->spec = $spec + array('remedy' => null, 'extension' => false, 'marshals' => false);
    }

    /** @return string */
    public function title()
    {
        return "{$this->store} by {$this->name}";
    }

    /** @return array its entry in a description */
    public function describe()
    {
        list($missing, $remedy) = $this->missing();
        return array(
            'store' => $this->store,
            'name' => $this->name,
            'about' => $this->spec['about'],
            'library' => $missing === null ? $this->library() : null,
            'missing' => $missing,
            'remedy' => $remedy,
            'schemes' => $this->spec['schemes'],
            'native' => $this->spec['native'],
            'extension' => $this->spec['extension'],
            'shared' => $this->spec['shared'],
            'marshals' => $this->spec['marshals'],
        );
    }

    /** @return string|null name and version of what it works with */
    public function library()
    {
        return call_user_func($this->spec['library']);
    }

    /** @return bool whether it takes values of that kind without any serializer of ours */
    public function stores($kind)
    {
        return in_array($kind, $this->spec['native'], true);
    }

    /** @return bool whether all processes see one store */
    public function shared()
    {
        return $this->spec['shared'];
    }

    /** @return bool */
    public function marshals()
    {
        return $this->spec['marshals'];
    }

    /** @throws Fault when it cannot be used here */
    public function need()
    {
        list($missing, $remedy) = $this->missing();
        if ($missing !== null) {
            throw new Fault('missing', "{$this->title()}: $missing", $remedy);
        }
    }

    /** @return object connected */
    public function open(array $address, $timeout, array $options)
    {
        return call_user_func($this->spec['open'], $address, $timeout, $options);
    }

    /** @return array why it cannot be used here, and what would fix it; nulls where it can */
    private function missing()
    {
        try {
            $missing = call_user_func($this->spec['missing']);
        } catch (\Exception $error) {
            $missing = $error->getMessage();
        } catch (\Throwable $error) {
            $missing = $error->getMessage();
        }
        if ($missing instanceof Fault) {
            $fault = $missing->describe() + array('remedy' => null);
            return array($fault['message'], $fault['remedy']);
        }
        return $missing === null ? array(null, null) : array(Text::line($missing), $this->spec['remedy']);
    }
}
