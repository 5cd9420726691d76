<?php
namespace Weighbridge;

/** What the requests to the client worker mean: describe, prepare, go, clean. */
final class ClientWorker
{
    const PROTOCOL = 1;

    private $catalogue;
    private $drivers;
    private $block;

    public function __construct(Catalogue $catalogue, Drivers $drivers)
    {
        $this->catalogue = $catalogue;
        $this->drivers = $drivers;
    }

    /** @return array the reply to a request, without its id */
    public function carryOut(Request $request)
    {
        switch ($request->text('op')) {
            case 'describe':
                return $this->describe();
            case 'prepare':
                if ($this->block !== null) {
                    $this->block->close();
                    $this->block = null;
                }
                $block = new Block($request, $this->drivers, $this->catalogue);
                $ready = $block->prepare();
                $this->block = $block;
                return $ready;
            case 'go':
                return $this->prepared('go')->go();
            case 'clean':
                return $this->prepared('clean')->clean();
            default:
                $message = "unknown op `{$request->text('op')}`; use describe, prepare, go or clean";
                throw new Fault('parameter', $message);
        }
    }

    /** @return Block */
    private function prepared($op)
    {
        if ($this->block === null) {
            throw new Fault('parameter', "$op without a prepare before it");
        }
        return $this->block;
    }

    private function describe()
    {
        return array(
            'protocol' => self::PROTOCOL,
            'runtime' => 'php',
            'version' => PHP_VERSION,
            'facts' => Facts::ofClient(),
            'drivers' => $this->drivers->describe(),
            'codecs' => $this->catalogue->describeCodecs(),
            'serializers' => $this->catalogue->describeSerializers(),
        );
    }
}
