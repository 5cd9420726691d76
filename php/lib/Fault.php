<?php
namespace Weighbridge;

/**
 * Why a request was not carried out, and what would fix it. The kinds are those of the protocol:
 * missing, parameter, payload, codec, round-trip; and for a request to an entry script also
 * forbidden and unacceptable.
 */
final class Fault extends \Exception
{
    private $kind;
    private $remedy;

    /**
     * @param string      $kind
     * @param string      $message one line
     * @param string|null $remedy  what would fix it, such as a command
     */
    public function __construct($kind, $message, $remedy = null)
    {
        parent::__construct($message);
        $this->kind = $kind;
        $this->remedy = $remedy;
    }

    /** @return string */
    public function kind()
    {
        return $this->kind;
    }

    /** @return array the `fault` object of a reply */
    public function describe()
    {
        $fault = array('kind' => $this->kind, 'message' => Text::line($this->getMessage()));
        if ($this->remedy !== null) {
            $fault['remedy'] = Text::line($this->remedy);
        }
        return $fault;
    }
}
