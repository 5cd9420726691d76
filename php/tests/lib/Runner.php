<?php
/** Runs tests, one after the other, and counts. */
final class Runner
{
    private $strict;
    private $passed = 0;
    private $failed = 0;
    private $skipped = 0;

    public function __construct($strict)
    {
        $this->strict = $strict;
    }

    /** @param callable $body throws Failure or Skip, or returns */
    public function test($name, $body)
    {
        try {
            $body();
            ++$this->passed;
            echo "ok    $name\n";
        } catch (Skip $skip) {
            if ($this->strict && !$skip->expected) {
                $this->fail($name, 'skipped, and WEIGH_STRICT is set: ' . $skip->getMessage());
            } else {
                ++$this->skipped;
                echo "skip  $name: {$skip->getMessage()}\n";
            }
        } catch (Exception $error) {
            $this->fail($name, get_class($error) . ': ' . $error->getMessage());
        } catch (Throwable $error) {
            $this->fail($name, get_class($error) . ": {$error->getMessage()} at {$error->getFile()}:{$error->getLine()}");
        }
    }

    /** @return int the exit status */
    public function report()
    {
        echo "\n{$this->passed} passed, {$this->failed} failed, {$this->skipped} skipped\n";
        return $this->failed > 0 || $this->passed === 0 ? 1 : 0;
    }

    private function fail($name, $reason)
    {
        ++$this->failed;
        echo "FAIL  $name: $reason\n";
    }
}
