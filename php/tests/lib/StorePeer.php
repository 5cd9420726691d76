<?php
/** A scripted server as a child process: see peers/. */
final class StorePeer
{
    public $port;
    private $client;

    public function __construct(Folder $folder, $name)
    {
        $this->client = new Client(array(PHP_BINARY, dirname(__DIR__) . "/peers/$name.php"), $folder->name());
        $this->port = $this->tell(array())['port'];
    }

    /** @return array its reply */
    public function tell(array $request)
    {
        return $this->client->ask($request);
    }

    public function end()
    {
        list($code, , $errors) = $this->client->end();
        Failure::unlessSame(array(0, ''), array($code, $errors), 'exit code and stderr of the peer');
    }
}
