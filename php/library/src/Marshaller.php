<?php

declare(strict_types=1);

namespace Weighbridge\Library;

// Symfony 6 and newer ask for the return type `mixed`, which PHP 7 does not have.
class_alias(
    PHP_VERSION_ID >= 80000 ? Symfony\Marshaller::class : Symfony\MarshallerOfPhp7::class,
    Marshaller::class
);
