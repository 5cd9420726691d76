<?php
/** Responds to the ready path; any other path is a file or a script of the docroot. */
if (strtok($_SERVER['REQUEST_URI'], '?') === '{{ ready }}') {
    echo '{{ token }}';
    return true;
}
return false;
