<?php

/** Sends the file that `file` names, as a page that was put together does: in one echo. */

echo file_get_contents($_GET['file']);
