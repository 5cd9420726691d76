<?php
namespace Weighbridge;

/** What is stored: the value of each key, and the judgement of what a read gave. */
final class Stored
{
    /** The integers start here, so that all have the same number of digits in every PHP's integers. */
    const FIRST = 1000000007;

    private $kind;
    private $values;
    private $serialized = array();
    private $workers;
    private $more = 0;

    /** @throws Fault on a kind that is not known, or content that is not as planned */
    public function __construct(Request $request)
    {
        $value = $request->partOrNull('value');
        if ($value === null) {
            throw new Fault('parameter', 'the request lacks `value`');
        }
        $this->kind = $value->text('kind');
        switch ($this->kind) {
            case 'integer':
                $this->values = array(self::FIRST);
                break;
            case 'record':
                $this->values = array(Record::of((int) $value->number('bins', 1)));
                break;
            case 'text':
            case 'value':
                $this->read($value);
                break;
            default:
                throw new Fault('parameter', "unknown kind of value `{$this->kind}`; use integer, record, text or value");
        }
        $this->workers = (int) $request->number('workers', 1);
    }

    /** Reads the texts or values of a file. All but the first are counted as the lab's own: an application has one at a time. */
    private function read(Request $value)
    {
        $path = $value->text('blob');
        $lengths = $value->has('items') ? $value->listOf('items', 'is_int', 'lengths') : array();
        $isText = $this->kind === 'text';
        $before = memory_get_usage();
        $this->values = Payloads::each($path, $value->text('sha256'), $lengths, function ($item) use ($path, $isText) {
            return $isText ? $item : Value::read($item, $path);
        });
        $each = (memory_get_usage() - $before) / count($this->values);
        $this->more = (int) ($each * (count($this->values) - 1));
    }

    /** @return int how many values there are: the keys of a worker hold them in turn */
    public function count()
    {
        return count($this->values);
    }

    /** @return array the values */
    public function all()
    {
        return $this->values;
    }

    /** @return int bytes of memory of all values but one */
    public function more()
    {
        return $this->more;
    }

    /** @return string|null the value of that place by serialize(); null of a text, which is compared as it is */
    private function serialized($at)
    {
        if (!array_key_exists($at, $this->serialized)) {
            $this->serialized[$at] = is_string($this->values[$at]) ? null : serialize($this->values[$at]);
        }
        return $this->serialized[$at];
    }

    /** Keys of one worker are as far apart as there are workers. */
    private function place($number)
    {
        return ((int) ($number / $this->workers)) % count($this->values);
    }

    /** @return string integer, record, text or value */
    public function kind()
    {
        return $this->kind;
    }

    /** @return mixed what the key of that number holds; integers differ from key to key, so that a mix-up is found */
    public function of($number)
    {
        return $this->kind === 'integer' ? self::FIRST + $number : $this->values[$this->place($number)];
    }

    /** @return bool whether a read of that key gave its value; a store of texts may give an integer as its digits */
    public function matches($found, $number)
    {
        if ($this->kind === 'integer') {
            return $found === $this->of($number) || $found === (string) $this->of($number);
        }
        $value = $this->of($number);
        if ($found === $value) {
            return true;
        }
        // Objects that came back are never the same, but they may be alike.
        $serialized = $this->serialized($this->place($number));
        return $serialized !== null && gettype($found) === gettype($value) && serialize($found) === $serialized;
    }
}
