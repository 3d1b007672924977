"""What the package is made of: the locked dependencies, their licences, a bill of materials, an offline audit."""
