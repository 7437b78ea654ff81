package config

func (c Config) validate() error { return nil }
