<?php
/** One driver of a store as a child process of the PHP under test. */
final class StoreDriver
{
    private $client;

    /** @param string|null $before a file that is read before the driver */
    public function __construct($binary, Folder $folder, $store, $driver, $before = null)
    {
        $tests = dirname(__DIR__);
        $file = dirname(dirname($tests)) . "/stores/$store/drivers/$driver.php";
        $command = array($binary, "$tests/peers/driver.php", $file);
        $this->client = new Client($before === null ? $command : array_merge($command, array($before)), $folder->name());
    }

    /** @return mixed what an operation gave */
    public function ask($operation)
    {
        $reply = $this->reply($operation, array_slice(func_get_args(), 1));
        Failure::unless(array_key_exists('value', $reply), "$operation failed: " . json_encode($reply));
        return unserialize(base64_decode($reply['value']));
    }

    /** Fails unless the operation does, with these words in one line. @return array kind, message, class and remedy */
    public function refused($words, $operation)
    {
        $reply = $this->reply($operation, array_slice(func_get_args(), 2));
        Failure::unless(isset($reply['message']), "$operation did not fail, with: $words");
        $message = $reply['message'];
        Failure::unless(strpos($message, $words) !== false, "`$words` is not in the failure: $message");
        Failure::unless(preg_match('/^[\x20-\x7e]{1,400}$/', $message) === 1, "not one short line: $message");
        return $reply;
    }

    public function end()
    {
        list($code, , $errors) = $this->client->end();
        Failure::unlessSame(array(0, ''), array($code, $errors), 'exit code and stderr of the driver');
    }

    private function reply($operation, array $arguments)
    {
        return $this->client->ask(array('op' => $operation, 'arguments' => base64_encode(serialize($arguments))));
    }
}
