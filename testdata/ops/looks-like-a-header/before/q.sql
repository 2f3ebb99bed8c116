-- old note
select 1;
