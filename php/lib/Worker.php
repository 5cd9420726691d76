<?php
namespace Weighbridge;

/** What the requests to the PHP worker mean: describe and visit. */
final class Worker
{
    const PROTOCOL = 1;

    private $catalogue;
    private $visitor;

    public function __construct(Catalogue $catalogue)
    {
        $this->catalogue = $catalogue;
        $this->visitor = new Visitor($catalogue, new Payloads());
    }

    /** @return array the reply to a request, without its id */
    public function carryOut(Request $request)
    {
        switch ($request->text('op')) {
            case 'describe':
                return $this->describe();
            case 'visit':
                return $this->visitor->visit($request);
            case 'check':
                throw new Fault('parameter', 'a PHP worker makes no independent check; ask the native worker');
            default:
                throw new Fault('parameter', "unknown op `{$request->text('op')}`; use describe or visit");
        }
    }

    private function describe()
    {
        return array(
            'protocol' => self::PROTOCOL,
            'runtime' => 'php',
            'version' => PHP_VERSION,
            'facts' => Facts::all(),
            'codecs' => $this->catalogue->describeCodecs(),
            'serializers' => $this->catalogue->describeSerializers(),
        );
    }
}
