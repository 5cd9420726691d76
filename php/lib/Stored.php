<?php
namespace Weighbridge;

/** What is stored: the value of each key, and the judgement of what a read gave. */
final class Stored
{
    /** The integers start here, so that all have the same number of digits in every PHP's integers. */
    const FIRST = 1000000007;

    private $kind;
    private $value;
    private $serialized;

    /** @throws Fault on a kind that is not known, or content that is not as planned */
    public function __construct(Request $request, Payloads $payloads)
    {
        $value = $request->partOrNull('value');
        if ($value === null) {
            throw new Fault('parameter', 'the request lacks `value`');
        }
        $this->kind = $value->text('kind');
        switch ($this->kind) {
            case 'integer':
                break;
            case 'record':
                $this->value = Record::of((int) $value->number('bins', 1));
                break;
            case 'text':
            case 'value':
                $payload = $payloads->whole($value->text('blob'), $value->text('sha256'));
                $items = $payload->items();
                $this->value = $this->kind === 'text' ? $items[0] : $payload->value('serialize');
                break;
            default:
                throw new Fault('parameter', "unknown kind of value `{$this->kind}`; use integer, record, text or value");
        }
        $this->serialized = is_string($this->value) ? null : serialize($this->value);
    }

    /** @return string integer, record, text or value */
    public function kind()
    {
        return $this->kind;
    }

    /** @return mixed what the key of that number holds; integers differ from key to key, so that a mix-up is found */
    public function of($number)
    {
        return $this->kind === 'integer' ? self::FIRST + $number : $this->value;
    }

    /** @return bool whether a read of that key gave its value; a store of texts may give an integer as its digits */
    public function matches($found, $number)
    {
        if ($this->kind === 'integer') {
            return $found === $this->of($number) || $found === (string) $this->of($number);
        }
        if ($found === $this->value) {
            return true;
        }
        // Objects that came back are never the same, but they may be alike.
        return $this->serialized !== null && gettype($found) === gettype($this->value)
            && serialize($found) === $this->serialized;
    }
}
