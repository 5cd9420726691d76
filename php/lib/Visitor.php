<?php
namespace Weighbridge;

/** Carries out visits: encodes, verifies, takes the samples, and measures memory. */
final class Visitor
{
    private $catalogue;
    private $payloads;

    public function __construct(Catalogue $catalogue, Payloads $payloads)
    {
        $this->catalogue = $catalogue;
        $this->payloads = $payloads;
    }

    /** @return array the reply without its id */
    public function visit(Request $request)
    {
        $codec = $this->catalogue->codec($request->text('codec'));
        $params = $request->params();
        list($coder, $format) = $codec->coder($params);
        $cell = $this->cell($request, $codec);
        $phases = $this->phases($request, $cell);
        $sampler = new Sampler($request);

        list($encoded, $first) = $this->encode($cell, $coder);
        $kept = array('encode' => $first, 'decode' => null);
        $verified = $request->flag('verify');
        if ($verified || in_array('decode', $phases, true)) {
            $kept['decode'] = $this->decode($cell, $coder, $encoded, $verified);
        }
        $samples = $this->samples($sampler, $cell, $phases, $coder, $encoded, $kept);
        $isFamily = $request->has('family') && $request->flag('family');
        $one = $isFamily ? $cell->first() : $cell;
        $phases = $isFamily ? array_intersect($phases, array('encode', 'decode')) : array();
        $again = $this->samples($sampler, $one, $phases, $coder, $encoded, array());
        $coder = null;
        if ($request->has('dump')) {
            $this->dump($request->text('dump'), $encoded);
        }
        return array(
            'decoded' => $cell->lengths(),
            'encoded' => array_map('strlen', $encoded),
            'format' => $format,
            'sha256_decoded' => Digest::of($cell->sources()),
            'sha256_encoded' => Digest::of($encoded),
            'verified' => $verified,
            'dictionary_bytes' => 0,
            'dictionary_path' => null,
            'phases' => (object) $samples,
            'again' => (object) $again,
            'peak_bytes' => (object) ($request->flag('memory') ? $this->peaks($one, $codec, $params, $encoded) : array()),
        );
    }

    /** @return array the `Samples` of each phase; `$kept` has the spans that count as first samples */
    private function samples(Sampler $sampler, Cell $cell, array $phases, Coder $coder, array $encoded, array $kept)
    {
        $samples = array();
        foreach ($phases as $phase) {
            $pass = $cell->pass($phase, $coder, $encoded);
            gc_collect_cycles();
            $samples[$phase] = $sampler->take($pass, isset($kept[$phase]) ? $kept[$phase] : null);
            // Where the first call was long enough to be the only sample, there was no run.
            if ($pass->hasRun()) {
                $cell->checkLast($phase, $pass);
            }
            $pass = null;
        }
        return $samples;
    }

    private function cell(Request $request, Codec $codec)
    {
        $lengths = $request->listOf('items', 'is_int', 'lengths');
        if (!$lengths || min($lengths) < 0) {
            throw new Fault('parameter', 'the request needs at least one item, and no negative length');
        }
        $payload = $this->payloads->load($request->text('blob'), $request->text('sha256'), $lengths);
        if ($request->has('serializer')) {
            $serializer = $this->catalogue->serializer($request->text('serializer'));
            $serializer->need();
            if ($codec->takesValue()) {
                throw new Fault('parameter', "{$request->text('codec')} takes a value itself; no serializer goes with it");
            }
            return Cell::ofSerialized($payload->values($request->textOrNull('value')), $serializer);
        }
        if ($codec->takesValue()) {
            return Cell::ofValues($payload->values($request->textOrNull('value')));
        }
        return Cell::ofBytes($payload);
    }

    /** @return array the names of the phases to time, in the order in which they are taken */
    private function phases(Request $request, Cell $cell)
    {
        $wanted = $request->listOf('phases', 'is_string', 'phases');
        $unknown = array_diff($wanted, $cell->phases());
        if ($unknown) {
            $known = implode(', ', $cell->phases());
            throw new Fault('parameter', 'this cell has no phase ' . implode(', ', $unknown) . "; it has $known");
        }
        return array_values(array_intersect($cell->phases(), $wanted));
    }

    /** @return array the encoded items, and the span it took if that can be the first sample */
    private function encode(Cell $cell, Coder $coder)
    {
        list($encoded, $span) = Clock::timeOutputs($cell->pass('encode', $coder, array()));
        foreach ($encoded as $i => $item) {
            if (!is_string($item)) {
                throw new Fault('codec', "encoding item $i gave " . gettype($item) . ' and not a text');
            }
        }
        return array($encoded, $span->cpu > Sampler::LONG_NS ? $span : null);
    }

    /** @return Span|null of the first decode, if that can be the first sample */
    private function decode(Cell $cell, Coder $coder, array $encoded, $verify)
    {
        list($decoded, $span) = Clock::timeOutputs($cell->verifyingPass($coder, $encoded));
        if ($verify) {
            $cell->compare($decoded);
        }
        return $span->cpu > Sampler::LONG_NS && $cell->verifiesAsTimed($coder) ? $span : null;
    }

    /** @return array peak bytes by phase, of a fresh coder, so that what it allocates once is in the figure */
    private function peaks(Cell $cell, Codec $codec, Params $params, array $encoded)
    {
        $peaks = array();
        // The first use of the meter itself touches pages, which the first phase would be charged with.
        Memory::peakOf(function () {
            return null;
        });
        foreach (array('encode', 'decode') as $phase) {
            $peaks[$phase] = Memory::peakOf(function () use ($cell, $codec, $params, $encoded, $phase) {
                list($coder) = $codec->coder($params);
                $pass = $cell->pass($phase, $coder, $encoded);
                $pass->run(1);
                return $pass;
            });
        }
        return array_filter($peaks, 'is_int');
    }

    /** Writes beside the path first: a reader finds the whole dump or none. */
    private function dump($path, array $encoded)
    {
        $temporary = "$path." . getmypid();
        try {
            $file = fopen($temporary, 'w');
            foreach ($encoded as $item) {
                if (fwrite($file, $item) !== strlen($item)) {
                    self::discard($temporary);
                    throw new Fault('payload', "the dump $temporary could not be written whole: is the disk full?");
                }
            }
            fclose($file);
            rename($temporary, $path);
        } catch (\ErrorException $error) {
            self::discard($temporary);
            throw new Fault('payload', "the dump $path cannot be written: " . $error->getMessage());
        }
    }

    private static function discard($path)
    {
        if (is_file($path)) {
            unlink($path);
        }
    }
}
